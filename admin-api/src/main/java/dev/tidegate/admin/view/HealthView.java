package dev.tidegate.admin.view;

import java.time.Instant;
import java.util.List;

/**
 * What health checks say of an endpoint.
 *
 * @param state {@code up}, {@code down}, {@code not-ready} or, before the first check, {@code unknown}
 * @param since when they have said so first
 * @param inRow results in a row that speak for a change
 * @param needed how many it takes
 * @param heldMs for how much longer it is held down because it flaps, whatever it answers, in milliseconds; 0: it is not
 * @param checks the last 20, the newest first
 */
public record HealthView(String state, Instant since, int inRow, int needed, long heldMs, List<CheckView> checks) {}
