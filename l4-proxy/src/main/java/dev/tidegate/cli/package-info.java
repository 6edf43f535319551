/** Options, signals, exit codes, wiring. Only this package exits the process. */
package dev.tidegate.cli;
