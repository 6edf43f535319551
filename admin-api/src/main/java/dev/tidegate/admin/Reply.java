package dev.tidegate.admin;

/**
 * A way in which a call may come out well. Immutable.
 *
 * @param status of the answer
 * @param shape of its body
 * @param description what it means
 */
record Reply(int status, Shape shape, String description) {}
