/** The operator's window: an HTTP/1.1 server that serves whatever implements {@code ProxyOperations}. */
package dev.tidegate.admin;
