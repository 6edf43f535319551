package dev.tidegate.config;

import java.util.List;
import java.util.Optional;

/**
 * What reading a configuration gave. Immutable.
 *
 * @param config the configuration; present if and only if no problem is an error
 * @param problems everything that is wrong, in file order
 */
public record ConfigResult(Optional<Config> config, List<Problem> problems) {
    /**
     * Copies the list and checks that it fits.
     *
     * @throws IllegalArgumentException if there is a configuration beside errors, or neither
     */
    public ConfigResult {
        problems = List.copyOf(problems);
        boolean failed = problems.stream().anyMatch(problem -> problem.severity() == Problem.Severity.ERROR);
        if (failed == config.isPresent()) {
            throw new IllegalArgumentException("a configuration is present exactly when there is no error");
        }
    }
}
