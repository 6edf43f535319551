package dev.tidegate.admin.view;

import java.time.Instant;

/**
 * One health check of an endpoint.
 *
 * @param time when it ended
 * @param durationMs how long it took, in milliseconds
 * @param result {@code pass}, {@code fail}, {@code not-ready} or {@code void} (it could not be carried out, and counts for
 *     nothing)
 * @param why what was found, in words
 * @param state of the endpoint after it
 */
public record CheckView(Instant time, long durationMs, String result, String why, String state) {}
