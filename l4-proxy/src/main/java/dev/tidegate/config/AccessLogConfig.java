package dev.tidegate.config;

import java.util.Objects;

/**
 * The log with one line a connection. Immutable.
 *
 * @param path {@value #STDOUT}, {@value #NONE}, or a file's path, absolute or relative to the working directory
 * @param format how a line looks
 */
public record AccessLogConfig(String path, Format format) {
    /** The path that means standard output. */
    public static final String STDOUT = "stdout";
    /** The path that switches the log off. */
    public static final String NONE = "none";

    /**
     * Checks the path.
     *
     * @throws IllegalArgumentException if the path is empty or has control characters
     */
    public AccessLogConfig {
        Objects.requireNonNull(format, "format");
        try {
            checkPath(path);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    static void checkPath(String path) throws InvalidValue {
        if (path.isEmpty()) {
            throw new InvalidValue("the path is empty", "write stdout, none, or a file's path");
        }
        if (path.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidValue(
                    "path " + Text.quote(path) + " has control characters", "write stdout, none, or a file's path");
        }
        if (path.endsWith("/")) {
            throw new InvalidValue("path " + Text.quote(path) + " is a directory", "write the path of a file");
        }
    }

    /** How a line of the access log looks. */
    public enum Format {
        /** One JSON object a line. */
        JSON,
        /** Fields in the order of HAProxy's TCP log, for tools that read it. */
        HAPROXY
    }
}
