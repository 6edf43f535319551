package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * A wire that remembers what it was told, and the connection around a tracker as far as bytes go: it shows them, passes on what
 * the tracker leaves to it, and holds the tracker to its contract (indexes, references, no call after opaque).
 */
final class Http2Wire implements Wire {
    /** Bytes of our own that the client was sent, and how many of the endpoint's had been passed on before. */
    static final class Insertion {
        private final int at;
        private final byte[] bytes;

        Insertion(int at, byte[] bytes) {
            this.at = at;
            this.bytes = bytes;
        }

        int at() {
            return at;
        }

        byte[] bytes() {
            return bytes;
        }
    }

    final Http2Tracker tracker;
    final List<Insertion> insertions = new ArrayList<>();
    int requests;
    int opaques;
    int overs;
    int unheeded;
    /** How many times the tracker took a buffer over. */
    int takenOver;
    /** What the connection does within {@link #onRequest}. */
    Runnable atRequest = () -> {};

    private final ByteArrayOutputStream toClient = new ByteArrayOutputStream();
    private final ByteArrayOutputStream toEndpoint = new ByteArrayOutputStream();
    private final ByteArrayOutputStream fromClient = new ByteArrayOutputStream();
    private final ByteArrayOutputStream fromEndpoint = new ByteArrayOutputStream();

    Http2Wire() {
        this(1);
    }

    Http2Wire(long seed) {
        this(new SplittableRandom(seed));
    }

    Http2Wire(RandomGenerator random) {
        tracker = new Http2Tracker(this, random);
    }

    void client(byte[]... parts) {
        show(Side.DOWNSTREAM, Http2Bytes.join(parts));
    }

    void endpoint(byte[]... parts) {
        show(Side.UPSTREAM, Http2Bytes.join(parts));
    }

    /** Both sides have shown what they speak. */
    Http2Wire greeted() {
        client(Http2Bytes.PREFACE, Http2Bytes.settings(1));
        endpoint(Http2Bytes.settings(2));
        return this;
    }

    /** Acknowledges our PING. */
    void acknowledge() {
        client(ack());
    }

    byte[] ack() {
        return Http2Bytes.ping(Http2Bytes.ACK, pingPayload());
    }

    /** Of the PING that was inserted, which is the last frame of its insertion. */
    long pingPayload() {
        for (Insertion insertion : insertions) {
            ByteBuf bytes = Unpooled.wrappedBuffer(insertion.bytes());
            int ping = bytes.readableBytes() - 17;
            if (ping >= 0 && bytes.getByte(ping + 3) == Http2Bytes.PING) {
                return bytes.getLong(ping + 9);
            }
        }
        return fail("no PING was inserted");
    }

    boolean pinged() {
        return insertions.stream()
                .anyMatch(insertion -> insertion.bytes()[insertion.bytes().length - 14] == Http2Bytes.PING);
    }

    void show(Side from, byte[] bytes) {
        if (bytes.length == 0) {
            return;
        }
        if (from == Side.DOWNSTREAM) {
            fromClient.writeBytes(bytes);
        } else if (overs == 0) {
            fromEndpoint.writeBytes(bytes); // what comes after the last word is to reach nobody
        }
        ByteBuf data =
                Unpooled.buffer(bytes.length + 3).writeZero(3).writeBytes(bytes).skipBytes(3);
        if (opaques > 0) {
            pass(from, data);
        } else if (tracker.onBytes(from, data)) {
            assertEquals(3, data.readerIndex(), "the reader index of a buffer that is not taken over");
            assertEquals(bytes.length, data.readableBytes());
            pass(from, data);
        } else {
            takenOver++;
        }
        assertEquals(0, data.refCnt(), "references to a buffer whose bytes have all been dealt with");
    }

    byte[] toClient() {
        return toClient.toByteArray();
    }

    byte[] toEndpoint() {
        return toEndpoint.toByteArray();
    }

    byte[] fromClient() {
        return fromClient.toByteArray();
    }

    byte[] fromEndpoint() {
        return fromEndpoint.toByteArray();
    }

    /** What reached the client without what was inserted. */
    byte[] toClientOfEndpoint() {
        byte[] all = toClient();
        ByteArrayOutputStream rest = new ByteArrayOutputStream();
        int at = 0;
        int passed = 0;
        for (Insertion insertion : insertions) {
            int before = insertion.at() - passed;
            rest.write(all, at, before);
            at += before;
            byte[] there = Arrays.copyOfRange(all, at, at + insertion.bytes().length);
            assertTrue(Arrays.equals(insertion.bytes(), there), "an insertion stands where it was made");
            at += there.length;
            passed = insertion.at();
        }
        rest.write(all, at, all.length - at);
        return rest.toByteArray();
    }

    @Override
    public void pass(Side from, ByteBuf data) {
        assertTrue(data.isReadable(), "nothing is passed on");
        byte[] bytes = new byte[data.readableBytes()];
        data.readBytes(bytes);
        data.release();
        (from == Side.DOWNSTREAM ? toEndpoint : toClient).writeBytes(bytes);
    }

    @Override
    public void insert(ByteBuf data) {
        byte[] bytes = new byte[data.readableBytes()];
        data.readBytes(bytes);
        assertTrue(data.release(), "an inserted buffer is the wire's alone");
        int inserted = insertions.stream().mapToInt(each -> each.bytes().length).sum();
        insertions.add(new Insertion(toClient.size() - inserted, bytes));
        toClient.writeBytes(bytes);
    }

    @Override
    public void hold(ByteBuf data) {
        fail("HTTP/2 stops no client");
    }

    @Override
    public void release() {
        fail("HTTP/2 stops no client");
    }

    @Override
    public ByteBuf buffer(int capacity) {
        return Unpooled.buffer(capacity, capacity);
    }

    @Override
    public void onRequest() {
        assertTrue(tracker.recognised(), "a request is sure only once the protocol is");
        requests++;
        atRequest.run();
    }

    @Override
    public void become(Tracker tracker) {
        throw new AssertionError("it is not for this tracker to detect");
    }

    @Override
    public void opaque() {
        assertFalse(opaques > 0, "said twice");
        opaques++;
    }

    @Override
    public void switched() {
        fail("HTTP/2 switches to nothing");
    }

    @Override
    public void over() {
        overs++;
    }

    @Override
    public void unheeded() {
        unheeded++;
    }
}
