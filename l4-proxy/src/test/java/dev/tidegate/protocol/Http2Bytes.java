package dev.tidegate.protocol;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** HTTP/2 as bytes, written down as RFC 9113 has it and without the code under test. */
final class Http2Bytes {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PUSH_PROMISE = 5;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int NONE = 0;
    static final int END_STREAM = 1;
    static final int ACK = 1;
    static final int END_HEADERS = 4;
    static final int PADDED = 8;
    static final int WITH_PRIORITY = 0x20;

    static final int MAX_ID = 0x7fff_ffff;

    static final byte[] PREFACE = ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

    private Http2Bytes() {}

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    static byte[] head(int length, int type, int flags, int id) {
        return ByteBuffer.allocate(9)
                .putShort((short) (length >>> 8))
                .put((byte) length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(id)
                .array();
    }

    static byte[] frame(int type, int flags, int id, byte... payload) {
        return join(head(payload.length, type, flags, id), payload);
    }

    static byte[] settings(int values) {
        byte[] payload = new byte[6 * values];
        for (int i = 0; i < values; i++) {
            payload[6 * i + 1] = 3;
            payload[6 * i + 5] = 100;
        }
        return frame(SETTINGS, NONE, 0, payload);
    }

    static byte[] settingsAck() {
        return frame(SETTINGS, ACK, 0);
    }

    /** GET / over http: names and values of HPACK's static table, which leave no state. */
    static byte[] requestFields() {
        return new byte[] {(byte) 0x82, (byte) 0x84, (byte) 0x86};
    }

    static byte[] statusFields(int status) {
        return join(new byte[] {0x08, 3}, ascii(Integer.toString(status)));
    }

    static byte[] trailerFields() {
        return join(new byte[] {0, 11}, ascii("grpc-status"), new byte[] {1, '0'});
    }

    static byte[] request(int id, int flags) {
        return frame(HEADERS, END_HEADERS | flags, id, requestFields());
    }

    static byte[] response(int id, int flags) {
        return frame(HEADERS, END_HEADERS | flags, id, statusFields(200));
    }

    static byte[] trailers(int id) {
        return frame(HEADERS, END_HEADERS | END_STREAM, id, trailerFields());
    }

    static byte[] data(int id, int length, int flags) {
        byte[] payload = new byte[length];
        Arrays.fill(payload, (byte) 'd');
        return frame(DATA, flags, id, payload);
    }

    static byte[] reset(int id) {
        return frame(RST_STREAM, NONE, id, integer(8));
    }

    static byte[] windowUpdate(int id) {
        return frame(WINDOW_UPDATE, NONE, id, integer(1));
    }

    static byte[] priority(int id) {
        return frame(PRIORITY, NONE, id, 0, 0, 0, 0, 15);
    }

    static byte[] promise(int id, int promised) {
        return frame(PUSH_PROMISE, END_HEADERS, id, join(integer(promised), requestFields()));
    }

    static byte[] ping(int flags, long payload) {
        return frame(PING, flags, 0, ByteBuffer.allocate(8).putLong(payload).array());
    }

    static byte[] goaway(int lastId) {
        return frame(GOAWAY, NONE, 0, join(integer(lastId), integer(0)));
    }

    static byte[] integer(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    private static byte[] frame(int type, int flags, int id, int... payload) {
        byte[] bytes = new byte[payload.length];
        for (int i = 0; i < payload.length; i++) {
            bytes[i] = (byte) payload[i];
        }
        return frame(type, flags, id, bytes);
    }
}
