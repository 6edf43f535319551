/** Deadlines on one wheel per worker, and the rules about time that need no socket. */
package dev.tidegate.lifetime;
