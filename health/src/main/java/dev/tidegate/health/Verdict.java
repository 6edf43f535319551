package dev.tidegate.health;

import java.time.Instant;

/**
 * One check of a target, and what the target's condition is since. Immutable.
 *
 * @param time when it ended, by the clock on the wall
 * @param durationNanos how long it took
 * @param finding what it found
 * @param condition of the target after it
 * @param inRow results in a row that speak for a change of the condition; 0 when none do
 * @param needed how many it takes
 * @param heldNanos for how much longer the target is held down because it flaps, however well it answers; 0: not held
 */
public record Verdict(
        Instant time,
        long durationNanos,
        Finding finding,
        Condition condition,
        int inRow,
        int needed,
        long heldNanos) {}
