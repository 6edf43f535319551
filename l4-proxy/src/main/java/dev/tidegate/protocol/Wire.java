package dev.tidegate.protocol;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;

/**
 * What a tracker can do to the bytes of its connection, and what it tells. All that is passed on or inserted leaves in the
 * order of the calls. Called on the connection's worker, from within the tracker's own methods.
 */
public interface Wire {
    /** Passes on bytes that came from a side, to the other one. Takes the buffer over. */
    void pass(Side from, ByteBuf data);

    /** Sends bytes of our own to the client. Takes the buffer over. */
    void insert(ByteBuf data);

    /**
     * Stops reading from the client and keeps these bytes, and any that still come, until {@link #release()} or the end of
     * the connection. Until then the tracker is shown none of them. Takes the buffer over.
     *
     * @param data may be empty
     */
    void hold(ByteBuf data);

    /**
     * What was held comes now, as if it were just read: it is shown to the tracker, unless {@link #opaque()} or {@link
     * #switched()} was said before, and passed on; then reads on.
     */
    void release();

    /** A new buffer of that capacity, to be passed on or inserted. */
    ByteBuf buffer(int capacity);

    /**
     * A request has begun, and counts. Called as soon as that is sure, once each; the bytes that show it are not passed on
     * yet. Within the call the connection may call {@link Tracker#retire()}: then this request is the last one.
     */
    void onRequest();

    /** Another tracker takes over, from the bytes after those shown now. Called at most once, by what only detects. */
    void become(Tracker tracker);

    /** From the bytes now shown on, nothing is known of the connection any more. The tracker is not called again. */
    void opaque();

    /**
     * The same, but in order: the two sides have agreed to speak something else (HTTP/1 upgrade or CONNECT). Nothing more is
     * counted.
     */
    void switched();

    /** The last exchange is over, the client knows it: the connection is to be ended as soon as what is queued has left. */
    void over();

    /** The client does not heed what it was told: the hard limit is now. */
    void unheeded();
}
