package dev.tidegate.telemetry;

import java.nio.file.Path;

/** Where the access log goes. Immutable. */
public sealed interface AccessLogTarget {
    /** Standard output. */
    record Stdout() implements AccessLogTarget {
        @Override
        public String toString() {
            return "stdout";
        }
    }

    /**
     * A file, appended to; created (0640) when it is missing.
     *
     * @param path the file; its directory must exist
     */
    record File(Path path) implements AccessLogTarget {
        @Override
        public String toString() {
            return path.toString();
        }
    }

    /** Nowhere. */
    record None() implements AccessLogTarget {
        @Override
        public String toString() {
            return "none";
        }
    }
}
