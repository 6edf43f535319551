package dev.tidegate.protocol;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;

/**
 * Looks at a connection's first bytes, and puts the tracker in place that may understand the rest. It decides as soon as one
 * byte tells, never waits for another, and is not wrong for good: each tracker gives up on what it does not understand.
 *
 * <ul>
 *   <li>HTTP/2 begins with the client's preface (RFC 9113 section 3.4). Its server may speak first, by SETTINGS, whose
 *       length begins with a zero byte as no text and no record of TLS does.
 *   <li>TLS begins with a handshake record, type 22 (RFC 8446 section 5.1).
 *   <li>HTTP/1 begins with a method (RFC 9112 section 3.1), which may share letters with the preface.
 *   <li>Anything else is opaque, and so is an endpoint that speaks first in another way.
 * </ul>
 *
 * <p>Confined to the connection's worker.
 */
public final class Detection implements Tracker {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int TLS_HANDSHAKE = 22;

    private final Wire wire;
    private final RandomGenerator random;
    private int seen; // bytes of the preface, passed on already
    private boolean retiring;

    private Detection(Wire wire, RandomGenerator random) {
        this.wire = wire;
        this.random = random;
    }

    /**
     * Begins to watch a connection.
     *
     * @param wire what is done to its bytes
     * @param random for what a peer must not guess
     */
    public static void begin(ProtocolChoice choice, Wire wire, RandomGenerator random) {
        switch (choice) {
            case AUTO -> wire.become(new Detection(wire, random));
            case HTTP1 -> wire.become(new Http1Tracker(wire));
            case HTTP2 -> wire.become(new Http2Tracker(wire, random));
            case TCP -> {}
        }
    }

    @Override
    public boolean onBytes(Side from, ByteBuf data) {
        int first = data.getUnsignedByte(data.readerIndex());
        if (from == Side.UPSTREAM) {
            return first == 0 ? become(http2(), from, data) : giveUp();
        }
        int at = data.readerIndex();
        int matched = seen;
        while (matched < PREFACE.length && at < data.writerIndex() && data.getByte(at) == PREFACE[matched]) {
            matched++;
            at++;
        }
        if (matched == PREFACE.length) {
            return become(http2(), from, data);
        }
        if (at == data.writerIndex()) {
            seen = matched;
            return true;
        }
        if (seen == 0 && first == TLS_HANDSHAKE) {
            return become(new TlsTracker(wire), from, data);
        }
        Http1Tracker http1 = new Http1Tracker(wire);
        if (seen > 0) {
            http1.resume(PREFACE, seen);
        }
        return become(http1, from, data);
    }

    private Http2Tracker http2() {
        Http2Tracker http2 = new Http2Tracker(wire, random);
        http2.resume(seen);
        return http2;
    }

    private boolean become(Tracker next, Side from, ByteBuf data) {
        wire.become(next);
        if (retiring) {
            next.retire();
        }
        return next.onBytes(from, data);
    }

    private boolean giveUp() {
        wire.opaque();
        return true;
    }

    @Override
    public void onFin(Side from) {
        // Nothing is held back.
    }

    @Override
    public boolean recognised() {
        return false;
    }

    @Override
    public void retire() {
        retiring = true;
    }

    @Override
    public void stay() {
        retiring = false;
    }

    @Override
    public boolean told() {
        return false;
    }

    @Override
    public Protocol protocol() {
        return Protocol.TCP;
    }

    @Override
    public RetireHow how() {
        return RetireHow.QUIET;
    }

    @Override
    public boolean endsBySilence() {
        return true;
    }

    @Override
    public boolean midExchange() {
        return false;
    }

    @Override
    public boolean exchangeOpen() {
        return false;
    }

    @Override
    public boolean lastWord() {
        return true;
    }
}
