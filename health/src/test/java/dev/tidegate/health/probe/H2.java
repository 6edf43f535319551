package dev.tidegate.health.probe;

import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedConnection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** HTTP/2 as bytes, written down as RFC 9113 and RFC 7541 have it and without a codec. */
final class H2 {
    /** The first that a client of Netty opens: it leaves 1 to upgrades from HTTP/1. */
    static final int STREAM = 3;

    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int GOAWAY = 7;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    private static final int PREFACE_BYTES = 24;

    private H2() {}

    /** Answers the preface, reads on to the end of the request's head (or body, if it has one), and sends the frames. */
    static Script answering(byte[]... frames) {
        return c -> {
            c.readExactly(PREFACE_BYTES);
            c.send(frame(SETTINGS, 0, 0));
            readRequest(c);
            for (byte[] frame : frames) {
                c.send(frame);
            }
        };
    }

    private static void readRequest(ScriptedConnection c) throws IOException {
        while (true) {
            ByteBuffer head = ByteBuffer.wrap(c.readExactly(9));
            int length = ((head.getShort() & 0xffff) << 8) | (head.get() & 0xff);
            int type = head.get();
            int flags = head.get();
            c.readExactly(length);
            if ((type == HEADERS || type == DATA) && (flags & END_STREAM) != 0) {
                return;
            }
        }
    }

    static byte[] frame(int type, int flags, int stream, byte... payload) {
        return ByteBuffer.allocate(9 + payload.length)
                .putShort((short) (payload.length >>> 8))
                .put((byte) payload.length)
                .put((byte) type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    /** HEADERS with literal fields, never indexed; {@code fields} are names and values in turn. */
    static byte[] headers(boolean end, String... fields) {
        return frame(HEADERS, END_HEADERS | (end ? END_STREAM : 0), STREAM, encode(fields));
    }

    private static byte[] encode(String... fields) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        for (int i = 0; i < fields.length; i += 2) {
            block.write(0x10);
            writeText(block, fields[i]);
            writeText(block, fields[i + 1]);
        }
        return block.toByteArray();
    }

    private static void writeText(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > 126) {
            throw new IllegalArgumentException("longer than 126 characters: " + text);
        }
        block.write(bytes.length);
        block.writeBytes(bytes);
    }

    static byte[] data(boolean end, byte... payload) {
        return frame(DATA, end ? END_STREAM : 0, STREAM, payload);
    }

    static byte[] rstStream(int code) {
        return frame(RST_STREAM, 0, STREAM, ByteBuffer.allocate(4).putInt(code).array());
    }

    static byte[] goAway(int last, int code) {
        return frame(
                GOAWAY, 0, 0, ByteBuffer.allocate(8).putInt(last).putInt(code).array());
    }
}
