package dev.tidegate.testkit;

/** How the other side ended a connection, as far as this side has seen. */
public enum Ending {
    /** Not ended by the other side, or not seen yet because nothing was read. */
    OPEN,
    /** Its FIN was read, after everything it sent. */
    FIN,
    /** Its RST came; also when it came after a FIN. */
    RST
}
