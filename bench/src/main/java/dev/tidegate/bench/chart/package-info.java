/** Charts as SVG, for documentation. */
package dev.tidegate.bench.chart;
