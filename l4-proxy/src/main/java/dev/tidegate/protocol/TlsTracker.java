package dev.tidegate.protocol;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;

/**
 * Knows where the records of a TLS connection end, and nothing else of it: so that it is not ended within one. To all else it
 * is opaque.
 *
 * <p>A record is a header of five bytes (type, legacy version, length) and a fragment of that length, in TLS 1.2 (RFC 5246
 * section 6.2) and 1.3 (RFC 8446 section 5.1) alike. What is no record in either direction makes the connection opaque
 * altogether.
 *
 * <p>Confined to the connection's worker. Hot: a fragment is passed over by a counter.
 */
final class TlsTracker implements Tracker {
    private static final int HEADER_BYTES = 5;
    private static final int FIRST_TYPE = 20; // change_cipher_spec
    private static final int LAST_TYPE = 24; // heartbeat
    private static final int MAJOR_VERSION = 3;
    /** 2^14 and, for a ciphertext of TLS 1.2, 2048 more (RFC 5246 section 6.2.3). */
    private static final int LONGEST_FRAGMENT = (1 << 14) + 2048;

    private final Wire wire;
    private final Records fromClient = new Records();
    private final Records fromEndpoint = new Records();
    private Side lastSpoke;
    private boolean opaque;

    TlsTracker(Wire wire) {
        this.wire = wire;
    }

    /** One direction: how far its present record has come. */
    private static final class Records {
        private int headerSeen;
        private int length;
        private int left;

        /** Answers whether these are records. */
        boolean pass(ByteBuf data) {
            int at = data.readerIndex();
            int end = data.writerIndex();
            while (at < end) {
                if (left > 0) {
                    int step = Math.min(left, end - at);
                    left -= step;
                    at += step;
                } else if (!header(data.getUnsignedByte(at++))) {
                    return false;
                }
            }
            return true;
        }

        private boolean header(int value) {
            boolean valid =
                    switch (headerSeen) {
                        case 0 -> value >= FIRST_TYPE && value <= LAST_TYPE;
                        case 1 -> value == MAJOR_VERSION;
                        case 2 -> true;
                        case 3 -> {
                            length = value << Byte.SIZE;
                            yield length <= LONGEST_FRAGMENT;
                        }
                        default -> {
                            length |= value;
                            yield length <= LONGEST_FRAGMENT;
                        }
                    };
            headerSeen++;
            if (headerSeen == HEADER_BYTES) {
                headerSeen = 0;
                left = length;
            }
            return valid;
        }

        boolean within() {
            return left > 0 || headerSeen > 0;
        }
    }

    @Override
    public boolean onBytes(Side from, ByteBuf data) {
        if (from == Side.DOWNSTREAM && lastSpoke != Side.DOWNSTREAM) {
            wire.onRequest(); // what is within cannot be seen: an exchange is when the client speaks, first or again
        }
        lastSpoke = from;
        if (!opaque && !(from == Side.DOWNSTREAM ? fromClient : fromEndpoint).pass(data)) {
            opaque = true;
            wire.opaque();
        }
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
        // Nobody can be told within TLS: a silence ends it.
    }

    @Override
    public void stay() {
        // As there was nothing to be done to retire it.
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
        return !midExchange();
    }

    @Override
    public boolean midExchange() {
        return fromClient.within() || fromEndpoint.within();
    }

    @Override
    public boolean exchangeOpen() {
        return midExchange();
    }

    @Override
    public boolean lastWord() {
        return !midExchange();
    }
}
