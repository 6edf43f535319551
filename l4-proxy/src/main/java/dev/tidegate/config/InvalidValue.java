package dev.tidegate.config;

/** What is wrong with one value, and what would be right. Carries no stack trace: it is news for the operator. */
final class InvalidValue extends Exception {
    private static final long serialVersionUID = 1;

    private final String hint;

    InvalidValue(String message, String hint) {
        super(message, null, false, false);
        this.hint = hint;
    }

    String hint() {
        return hint;
    }

    IllegalArgumentException asArgumentError() {
        return new IllegalArgumentException(hint.isEmpty() ? getMessage() : getMessage() + "; " + hint, this);
    }
}
