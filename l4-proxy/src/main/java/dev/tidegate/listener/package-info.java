/** Transport choice, bind, accept. */
package dev.tidegate.listener;
