package dev.tidegate.admin.command;

import java.util.OptionalLong;

/**
 * Around a write. Immutable.
 *
 * @param actor who asks, for the operator's log: the role, and where from
 * @param ifGeneration the generation that the asker has seen; another one in force refuses the write
 * @param dryRun whether to tell only what it would change
 */
public record WriteContext(String actor, OptionalLong ifGeneration, boolean dryRun) {}
