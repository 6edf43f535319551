package dev.tidegate.admin.view;

/**
 * One problem of a configuration or of a value.
 *
 * @param line from 1; 0 when it is not in a file
 * @param column from 1; 0 when it is not in a file
 * @param path the key, list elements by their names
 * @param message what is wrong
 * @param hint what would be right; may be empty
 */
public record ProblemView(int line, int column, String path, String message, String hint) {}
