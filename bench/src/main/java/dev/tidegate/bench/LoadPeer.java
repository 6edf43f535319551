package dev.tidegate.bench;

import java.io.IOException;
import java.nio.channels.SelectionKey;

/** Something with a socket on the load loop. Confined to it. */
interface LoadPeer {
    /** The socket is ready for what {@code key} says. */
    void onReady(SelectionKey key) throws IOException;

    /** {@link #onReady} threw: the socket is of no more use. */
    void onFailure(IOException cause);
}
