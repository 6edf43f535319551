package dev.tidegate.testkit;

import java.io.IOException;

/** The other side ended the connection while a scripted peer still wanted something of it. */
public final class PeerGoneException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Ending ending;

    PeerGoneException(Ending ending, String message) {
        super(message);
        this.ending = ending;
    }

    /** FIN or RST. */
    public Ending ending() {
        return ending;
    }
}
