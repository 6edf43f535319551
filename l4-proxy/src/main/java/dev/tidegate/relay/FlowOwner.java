package dev.tidegate.relay;

import dev.tidegate.model.Side;

/** What flows tell their connection. Called on the worker's loop. */
public interface FlowOwner {
    /**
     * Bytes came in. Hot: once a read.
     *
     * @param from the side they came from
     * @param count how many
     * @param delivered how many earlier bytes of this flow are known, by now, to have left, and were not told of before
     */
    void onBytes(Side from, int count, long delivered);

    /** A side has ended its direction in order; bytes of it may still be queued. */
    void onFin(Side from);

    /** All bytes of an ended flow have left: its FIN may go. */
    void onDrained(Flow flow);

    /** Reading from a side was paused or resumed. */
    void onPause(Side from, boolean paused);

    /** Bytes of a side are held back from now on, and reading from it has stopped. */
    void onHeld(Side from);

    /**
     * Writing to a side failed, and nothing more can be written there. What it has sent may still be read, and reading will
     * tell how it ended.
     *
     * @param cause what the write met; null when that was told before
     */
    void onWriteFailed(Side side, Throwable cause);

    /** A side's socket failed, by a reset or otherwise. */
    void onFault(Side side, Throwable cause);

    /** The tracker has seen a request begin; it is not passed on yet. */
    void onRequest();

    /** Nothing is known of the connection's protocol from now on. */
    void onOpaque();

    /** The same, because both sides have agreed on another one: nothing more is to be counted. */
    void onSwitched();

    /** The last exchange is over, and the client knows it. */
    void onOver();

    /** The client opens ever more requests though it was told to leave. */
    void onUnheeded();
}
