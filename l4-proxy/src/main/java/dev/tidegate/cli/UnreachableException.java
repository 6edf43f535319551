package dev.tidegate.cli;

/** The running process cannot be reached, or what it answers is no answer. The message is for the operator. */
final class UnreachableException extends Exception {
    private static final long serialVersionUID = 1;

    UnreachableException(String message, Throwable cause) {
        super(message, cause);
    }
}
