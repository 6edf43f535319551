package dev.tidegate.cli;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** What a client of a warm-up says, and how often; its endpoint answers by the first byte. Immutable. */
enum WarmUpTalk {
    /** Bytes of no known protocol come back, several times. */
    ECHO(6) {
        @Override
        byte[] request(int round) {
            return OPAQUE;
        }
    },
    /** HTTP/1 with a kept connection. */
    HTTP1(6) {
        @Override
        byte[] request(int round) {
            return ascii("GET /warm-up/" + round + " HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
        }
    },
    /** The most common short connection: once there and back. */
    ONCE(1) {
        @Override
        byte[] request(int round) {
            return OPAQUE;
        }
    },
    /** HTTP/2, a stream after the other. */
    HTTP2(4) {
        @Override
        byte[] request(int round) {
            byte[] headers = frame(HEADERS, END_HEADERS | END_STREAM, 2 * round + 1, REQUEST_FIELDS);
            return switch (round) {
                case 0 -> join(PREFACE, frame(SETTINGS, 0, 0), headers);
                case 1 -> join(frame(SETTINGS, ACK, 0), headers);
                default -> headers;
            };
        }
    },
    /** HTTP/1 once. */
    HTTP1_ONCE(1) {
        @Override
        byte[] request(int round) {
            return HTTP1.request(round);
        }
    },
    /** Many bytes from the endpoint. */
    DOWNLOAD(1) {
        @Override
        byte[] request(int round) {
            return new byte[] {DOWNLOAD_BYTE};
        }
    },
    /** Many bytes to the endpoint, which answers the last. */
    UPLOAD(1) {
        @Override
        byte[] request(int round) {
            return new byte[] {UPLOAD_BYTE};
        }
    };

    /** Ends each answer, and stands nowhere else in one. */
    static final byte LAST = '!';

    static final byte UPLOAD_BYTE = 1;
    static final byte DOWNLOAD_BYTE = 2;

    /** Of an upload or a download: some reads of the relay, and more than a socket takes at once. */
    static final int BULK_BYTES = 256 << 10;

    static final int FRAME_HEAD_BYTES = 9;
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int SETTINGS = 4;
    static final int ACK = 1;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    static final byte[] PREFACE = ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    static final byte[] HTTP1_RESPONSE =
            ascii("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 64\r\n\r\n" + ".".repeat(63) + "!");

    /** GET / over http, from HPACK's static table. */
    private static final byte[] REQUEST_FIELDS = {(byte) 0x82, (byte) 0x84, (byte) 0x86};

    private static final byte[] RESPONSE_FIELDS = {(byte) 0x88}; // 200
    private static final byte[] OPAQUE = ascii("\0".repeat(63) + "!");
    private static final byte[] BODY = ascii(".".repeat(63) + "!");

    private final int rounds;

    WarmUpTalk(int rounds) {
        this.rounds = rounds;
    }

    /** How many requests a client makes. */
    int rounds() {
        return rounds;
    }

    /** The request of that round, the first being 0. */
    abstract byte[] request(int round);

    /** An HTTP/2 response on that stream. */
    static byte[] http2Response(int stream) {
        return join(frame(HEADERS, END_HEADERS, stream, RESPONSE_FIELDS), frame(DATA, END_STREAM, stream, BODY));
    }

    static byte[] frame(int type, int flags, int stream, byte... payload) {
        byte[] head = {
            0,
            (byte) (payload.length >>> 8),
            (byte) payload.length,
            (byte) type,
            (byte) flags,
            (byte) (stream >>> 24),
            (byte) (stream >>> 16),
            (byte) (stream >>> 8),
            (byte) stream
        };
        return join(head, payload);
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
