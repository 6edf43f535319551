package dev.tidegate.testkit;

import org.junit.jupiter.api.Assumptions;

/**
 * What a test needs of the machine: a program, a transport, the right to mount.
 *
 * <pre>{@code
 * Requirement.met(IoUring.isAvailable(), "needs io_uring");
 * }</pre>
 *
 * <p>Where it is missing the test is skipped; where nothing may be skipped (environment {@code CI=true}, or system property
 * {@code tidegate.tools=required}) the test fails.
 */
public final class Requirement {
    private Requirement() {}

    /** Goes on when {@code met}; else ends the test, {@code need} says of what. */
    public static void met(boolean met, String need) {
        if (met) {
            return;
        }
        if (isMandatory()) {
            throw new AssertionError(need + "; nothing may be skipped here (CI=true or -Dtidegate.tools=required)");
        }
        Assumptions.abort(need);
    }

    private static boolean isMandatory() {
        return "true".equals(System.getenv("CI")) || "required".equals(System.getProperty("tidegate.tools"));
    }
}
