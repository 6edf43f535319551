package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A connection that an {@link Http1Tracker} watches, without sockets: what is fed to it goes the way that a relay would let it
 * go, and what comes out on both sides is kept.
 */
final class WatchedHttp1 implements Wire {
    private static final byte[] NOTHING = {};

    private final ByteArrayOutputStream toClient = new ByteArrayOutputStream();
    private final ByteArrayOutputStream toEndpoint = new ByteArrayOutputStream();
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private final Http1Tracker tracker = new Http1Tracker(this);
    private Runnable atRequest = () -> {};
    private boolean holding;
    private int requests;
    private int opaque;
    private int switched;
    private int over;
    private int inserted;

    Http1Tracker tracker() {
        return tracker;
    }

    /** What the connection does when a request is counted. */
    WatchedHttp1 atRequest(Runnable action) {
        atRequest = action;
        return this;
    }

    /** Retires it when it has counted so many requests. */
    WatchedHttp1 withCap(int cap) {
        return atRequest(() -> {
            if (requests == cap) {
                tracker.retire();
            }
        });
    }

    WatchedHttp1 client(String text) {
        return feed(Side.DOWNSTREAM, bytes(text));
    }

    WatchedHttp1 endpoint(String text) {
        return feed(Side.UPSTREAM, bytes(text));
    }

    /** One read from a side. */
    WatchedHttp1 feed(Side from, byte[] data) {
        return feed(from, data, 0, data.length);
    }

    WatchedHttp1 feed(Side from, byte[] data, int start, int count) {
        if (count == 0) {
            return this;
        }
        if (from == Side.DOWNSTREAM && holding) {
            held.write(data, start, count);
            return this;
        }
        // Not at index 0, as a slice of a receive buffer may not be either.
        ByteBuf read = Unpooled.buffer(count + 3).writeBytes(new byte[3]).skipBytes(3);
        read.writeBytes(data, start, count);
        if (opaque + switched > 0) {
            pass(from, read);
        } else if (tracker.onBytes(from, read)) {
            assertEquals(count, read.readableBytes(), "the reader index of what is to be passed on whole");
            pass(from, read);
        }
        assertEquals(0, read.refCnt(), "references to what was read");
        return this;
    }

    WatchedHttp1 fin(Side from) {
        if (opaque + switched == 0) {
            tracker.onFin(from);
        }
        return this;
    }

    @Override
    public void pass(Side from, ByteBuf data) {
        write(data, from == Side.DOWNSTREAM ? toEndpoint : toClient);
    }

    @Override
    public void insert(ByteBuf data) {
        inserted += data.readableBytes();
        write(data, toClient);
    }

    @Override
    public void hold(ByteBuf data) {
        assertFalse(holding, "held twice");
        holding = true;
        write(data, held);
    }

    private static void write(ByteBuf data, ByteArrayOutputStream to) {
        byte[] copy = new byte[data.readableBytes()];
        data.readBytes(copy);
        to.writeBytes(copy);
        data.release();
    }

    @Override
    public void release() {
        holding = false;
        byte[] released = held.toByteArray();
        held.reset();
        feed(Side.DOWNSTREAM, released);
    }

    @Override
    public ByteBuf buffer(int capacity) {
        return Unpooled.buffer(capacity);
    }

    @Override
    public void onRequest() {
        requests++;
        atRequest.run();
    }

    @Override
    public void become(Tracker tracker) {
        throw new AssertionError("it is not for this tracker to detect");
    }

    @Override
    public void opaque() {
        opaque++;
    }

    @Override
    public void switched() {
        switched++;
    }

    @Override
    public void over() {
        over++;
    }

    @Override
    public void unheeded() {
        throw new IllegalStateException("HTTP/1 clients cannot leave unheeded that nothing more is read from them");
    }

    int requests() {
        return requests;
    }

    boolean isOpaque() {
        assertEquals(0, opaque / 2, "said to be opaque more than once");
        return opaque == 1;
    }

    boolean isSwitched() {
        assertEquals(0, switched / 2, "said to be switched more than once");
        return switched == 1;
    }

    boolean isOver() {
        assertEquals(0, over / 2, "said to be over more than once");
        return over == 1;
    }

    /** Whether reading from the client is stopped. */
    boolean holding() {
        return holding;
    }

    int inserted() {
        return inserted;
    }

    byte[] toClient() {
        return toClient.toByteArray();
    }

    byte[] toEndpoint() {
        return toEndpoint.toByteArray();
    }

    byte[] held() {
        return holding ? held.toByteArray() : NOTHING;
    }

    String clientSaw() {
        return text(toClient());
    }

    String endpointSaw() {
        return text(toEndpoint());
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
