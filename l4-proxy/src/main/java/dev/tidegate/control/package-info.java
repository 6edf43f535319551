/** The single writer: builds and publishes snapshots, reloads, watches names, starts and stops the proxy. */
package dev.tidegate.control;
