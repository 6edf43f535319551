package dev.tidegate.systemd;

import java.io.IOException;

/** A way to the service manager. Confined to the notifier's thread. */
interface Wire {
    /**
     * Sends one message without waiting for anybody to read it.
     *
     * @return false when there is no room for it now
     * @throws IOException when there is nobody to take it
     */
    boolean trySend(String message) throws IOException;

    /** Gives back what it holds. */
    void close();
}
