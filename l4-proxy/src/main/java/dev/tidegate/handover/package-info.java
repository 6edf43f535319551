/** A process gives its listening sockets to the one that takes its place, over a UNIX socket between the two. */
package dev.tidegate.handover;
