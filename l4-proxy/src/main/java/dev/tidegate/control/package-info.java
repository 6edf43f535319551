/** The single writer: builds and publishes snapshots, watches names, starts and stops the proxy. */
package dev.tidegate.control;
