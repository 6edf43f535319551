package dev.tidegate.admin.view;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * One problem of a configuration or of a value.
 *
 * @param file the configuration's file that it is in, which may be an included one; null for a value, and not sent then
 * @param line from 1; 0 when it is not in a file
 * @param column from 1; 0 when it is not in a file
 * @param path the key, list elements by their names
 * @param message what is wrong
 * @param hint what would be right; may be empty
 * @param severity of one in a file: {@code error}, or {@code warning}, which refuses nothing by itself; else null, and not
 *     sent
 */
public record ProblemView(
        @JsonInclude(JsonInclude.Include.NON_NULL) String file,
        int line,
        int column,
        String path,
        String message,
        String hint,
        @JsonInclude(JsonInclude.Include.NON_NULL) String severity) {
    /** One of a value that was sent. */
    public ProblemView(int line, int column, String path, String message, String hint) {
        this(null, line, column, path, message, hint, null);
    }
}
