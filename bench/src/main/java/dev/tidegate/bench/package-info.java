/** Benchmarks of parts (JMH) and of the whole (scenarios against other proxies). */
package dev.tidegate.bench;
