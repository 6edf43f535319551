package dev.tidegate.protocol;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;

/**
 * Follows what one connection's bytes say, in both directions, and ends it at a moment that hurts nobody.
 *
 * <p>It is shown every byte before that is passed on. It delays none and waits for none (the exceptions stand at the
 * implementations). It recognises its protocol only when both sides have shown it. On anything invalid or ambiguous it
 * says {@link Wire#opaque()} and is not called again; the bytes that it was shown then are passed on untouched.
 *
 * <p>Confined to the connection's worker. {@link #onBytes} is hot: no allocation, no log, no clock, no lock.
 */
public interface Tracker {
    /**
     * Bytes have come. Their reader index is not moved.
     *
     * @param from the side that sent them
     * @param data what it sent, at least one byte
     * @return true: they are to be passed on whole, as they are, by the caller. False: the tracker has taken the buffer over,
     *     and has passed on what of it is to be passed on
     */
    boolean onBytes(Side from, ByteBuf data);

    /**
     * A side has ended its direction, after all its bytes. What the tracker held of that direction it passes on now, if it
     * is to be passed on at all. Called before the end is passed on.
     */
    void onFin(Side from);

    /**
     * Whether both sides have shown the protocol, so that the tracker knows when nothing is under way and how to end the
     * connection. While it is false {@link #retire()} does nothing but remember, and the connection is ended as an opaque
     * one.
     */
    boolean recognised();

    /** From now on the connection is to end, at the next moment that hurts nobody. May be called again, without effect. */
    void retire();

    /** Takes {@link #retire()} back, as long as the client was not told; else without effect. */
    void stay();

    /** Whether the client was told, on the wire, that the connection ends. */
    boolean told();

    /** What it follows. */
    Protocol protocol();

    /** How it ends connections. Only asked when {@link #told()}. */
    RetireHow how();

    /**
     * Whether a silence that lasts may end the connection now. As long as the protocol is not recognised, that is so
     * wherever it is not seen to be inside a record; afterwards only when nothing is under way, and the client can be told
     * in no other way.
     */
    boolean endsBySilence();

    /**
     * Whether the connection stands in the middle of something: an exchange or stream is open, or a frame, head or record is
     * begun and not whole, in either direction.
     */
    boolean midExchange();

    /** Whether an exchange or stream is open that a client waits for, edges of frames apart. */
    boolean exchangeOpen();

    /**
     * The hard limit has come: passes the last word on to the client, if the protocol has one and the place allows it.
     *
     * @return true: passed on, a FIN may follow it. False: the connection can only be reset
     */
    boolean lastWord();
}
