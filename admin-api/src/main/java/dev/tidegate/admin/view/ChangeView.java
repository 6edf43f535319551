package dev.tidegate.admin.view;

/**
 * One difference.
 *
 * @param op {@code add}, {@code remove} or {@code change}
 * @param path where: list elements by their names
 * @param from the value before, in the configuration's words; null when added
 * @param to the value after; null when removed
 * @param applies {@code live} or {@code restart}
 * @param connections how many open connections it retires
 */
public record ChangeView(
        String op,
        String path,
        @MayBeNull String from,
        @MayBeNull String to,
        String applies,
        int connections) {}
