/** May this connection come in? Limits, in a fixed order. */
package dev.tidegate.admission;
