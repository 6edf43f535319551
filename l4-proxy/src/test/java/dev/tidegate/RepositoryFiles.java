package dev.tidegate;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the repository's own files are, for tests of them. */
public final class RepositoryFiles {
    private RepositoryFiles() {}

    /** The directory that holds README.md and all modules, found upwards from where the test runs. */
    public static Path root() {
        Path at = Path.of("").toAbsolutePath();
        while (at != null && !Files.isRegularFile(at.resolve("l4-proxy/pom.xml"))) {
            at = at.getParent();
        }
        if (at == null) {
            throw new IllegalStateException(
                    "no repository around " + Path.of("").toAbsolutePath());
        }
        return at;
    }
}
