package dev.tidegate.testkit;

/**
 * What reading to the end of a connection gave.
 *
 * @param kind how it ended
 * @param bytes read by this call
 * @param sha256 of these bytes, lower-case hex
 */
public record End(Kind kind, long bytes, String sha256) {
    /** The ways to end. */
    public enum Kind {
        FIN,
        RST,
        TIMEOUT
    }
}
