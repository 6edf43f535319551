/** Which endpoints are fit? What checks say and how connections fare becomes ejection, breaker, slow start and panic. */
package dev.tidegate.fitness;
