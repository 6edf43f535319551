/** Text to records to problems. Knows nothing of Netty or of the running proxy. */
package dev.tidegate.config;
