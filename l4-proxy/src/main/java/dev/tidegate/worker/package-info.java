/** One event loop and all that is confined to it: ticker, wheel, table, random, counters. */
package dev.tidegate.worker;
