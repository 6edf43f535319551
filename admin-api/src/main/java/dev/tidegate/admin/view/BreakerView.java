package dev.tidegate.admin.view;

import java.time.Instant;

/**
 * An endpoint's circuit breaker.
 *
 * @param state {@code closed}: it is dialed; {@code open}: it is not, since connects to it failed; {@code half-open}: a few
 *     connects try it
 * @param until when an open breaker becomes half open; null otherwise
 */
public record BreakerView(String state, @MayBeNull Instant until) {}
