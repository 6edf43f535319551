package dev.tidegate.admin.view;

/**
 * A worker.
 *
 * @param worker its number, from 0
 * @param connections on it
 */
public record WorkerView(int worker, int connections) {}
