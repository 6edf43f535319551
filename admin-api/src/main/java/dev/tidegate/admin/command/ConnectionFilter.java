package dev.tidegate.admin.command;

import java.util.Optional;

/**
 * Which connections to list. Immutable.
 *
 * @param frontend those of this frontend only
 * @param backend those of this backend only
 * @param endpoint those on this endpoint only
 * @param limit the most to list, 1 to 1,000
 */
public record ConnectionFilter(
        Optional<String> frontend, Optional<String> backend, Optional<String> endpoint, int limit) {}
