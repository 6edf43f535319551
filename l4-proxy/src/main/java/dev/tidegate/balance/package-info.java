/** Which endpoint? Pickers as a pure choice over candidates, load and random. */
package dev.tidegate.balance;
