/** The kinds of check: what is sent, what is expected, and how each ends its connection without leaving a mess. */
package dev.tidegate.health.probe;
