/** JMH benchmarks of the parts that run for every connection or every read. */
package dev.tidegate.bench.jmh;
