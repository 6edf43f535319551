/** One connection from accept to close: the only place that knows the order of the steps. */
package dev.tidegate.connection;
