package dev.tidegate.config;

import java.util.Objects;

/**
 * One thing that is wrong with a configuration, and where. Immutable.
 *
 * @param file the file it is in, as it was named to the reader
 * @param line from 1
 * @param column from 1, in characters
 * @param path the key, list elements by their {@code name} or else by index from 0, as in
 *     {@code backends.web.endpoints.b.weight}; empty for the file as a whole
 * @param message what is wrong
 * @param hint what would be right; may be empty
 * @param severity whether the configuration can be used all the same
 */
public record Problem(String file, int line, int column, String path, String message, String hint, Severity severity) {
    /**
     * Makes every text safe to print as one line and checks the position.
     *
     * @throws IllegalArgumentException if line or column is below 1, or the message is empty
     */
    public Problem {
        if (line < 1 || column < 1) {
            throw new IllegalArgumentException("position " + line + ":" + column + " does not count from 1");
        }
        file = Text.oneLine(file);
        path = Text.oneLine(path);
        message = Text.oneLine(message);
        hint = Text.oneLine(hint);
        Objects.requireNonNull(severity, "severity");
        if (message.isEmpty()) {
            throw new IllegalArgumentException("a problem needs a message");
        }
    }

    /** Whether the configuration can be used all the same. */
    public enum Severity {
        /** It cannot be used. */
        ERROR,
        /** It can, but probably does not do what is meant. */
        WARNING
    }

    /** {@code FILE:LINE:COL: path.to.key: what is wrong; what would be right}; a warning says that it is one. */
    @Override
    public String toString() {
        return file + ":" + line + ":" + column + ": " + (path.isEmpty() ? "" : path + ": ")
                + (severity == Severity.WARNING ? "warning: " : "") + message + (hint.isEmpty() ? "" : "; " + hint);
    }
}
