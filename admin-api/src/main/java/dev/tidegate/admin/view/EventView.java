package dev.tidegate.admin.view;

import java.time.Instant;
import java.util.Map;

/**
 * A change of state.
 *
 * @param id a number that rises by one
 * @param time when
 * @param type such as {@code drain-started}, {@code endpoint-state}, {@code reload}
 * @param message for a person
 * @param fields the same for a program
 */
public record EventView(long id, Instant time, String type, String message, Map<String, Object> fields) {}
