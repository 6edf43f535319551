/** Moves bytes both ways: back-pressure and half-close, per direction. */
package dev.tidegate.relay;
