package dev.tidegate.cli;

/** The exit codes, in one place. */
final class Exit {
    /** All went well; for {@code run}, it was stopped by a signal. */
    static final int OK = 0;
    /** It could not do what it was asked to: an invalid file for {@code check}, a port in use for {@code run}. */
    static final int FAILED = 1;
    /** The command line itself was wrong. */
    static final int USAGE = 2;
    /** The running process cannot be reached, or does not answer (EX_UNAVAILABLE of sysexits.h). */
    static final int UNAVAILABLE = 69;
    /** {@code run} was given a bad or missing configuration (EX_CONFIG of sysexits.h). */
    static final int CONFIG = 78;

    /** Ended by ctrl-C: 128 and the number of SIGINT, as shells have it. */
    static final int INTERRUPTED = 130;

    private Exit() {}
}
