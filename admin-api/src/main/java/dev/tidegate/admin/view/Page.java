package dev.tidegate.admin.view;

import java.util.List;

/**
 * A list, or the first part of one.
 *
 * @param items as many as were asked for
 * @param total how many there are
 * @param <T> of what
 */
public record Page<T>(List<T> items, int total) {}
