package dev.tidegate.admin;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What one follower of events wants. Immutable.
 *
 * @param recent how many of the last events to tell first
 * @param after tell first those after this id, if they are still known
 * @param stats how often to tell the state of everything too
 */
record StreamOptions(int recent, OptionalLong after, Optional<Duration> stats) {}
