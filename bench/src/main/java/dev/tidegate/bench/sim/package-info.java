/** A simulator: production code on a virtual clock, with chance from a seed, against figures of the literature. */
package dev.tidegate.bench.sim;
