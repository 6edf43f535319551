/** How many servers a load needs, and how much load servers bear, from the Erlang C formula. */
package dev.tidegate.bench.capacity;
