/** Benchmarks of single parts, run by {@code bench/jmh}; each says what it is a claim about. */
package dev.tidegate.bench.jmh;
