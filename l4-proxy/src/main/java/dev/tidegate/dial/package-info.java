/** Reach the endpoint: attempts, deadline, back-off, PROXY header. */
package dev.tidegate.dial;
