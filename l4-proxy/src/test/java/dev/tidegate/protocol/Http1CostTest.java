package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** What an {@link Http1Tracker} takes of memory, for a connection and for a read. */
class Http1CostTest {
    private static final int READS = 10_000;
    private static final int TRACKERS = 1_000;
    private static final long TRACKER_BYTES_MAX = 128;
    private static final long UNANSWERED_BYTES = 48;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final CountingWire wire = new CountingWire();
    private final Http1Tracker tracker = new Http1Tracker(wire);

    @Test
    void readsOfSmallExchangesAllocateNothing() {
        ByteBuf request = read("GET / HTTP/1.1\r\nHost: a.example\r\nUser-Agent: x\r\nAccept: */*\r\n\r\n");
        ByteBuf response = read("HTTP/1.1 200 OK\r\nServer: x\r\nDate: Mon, 30 Nov 2026 01:42:44 GMT\r\n"
                + "Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok");
        Runnable exchange = () -> {
            tracker.onBytes(Side.DOWNSTREAM, request);
            tracker.onBytes(Side.UPSTREAM, response);
        };

        assertAllocatesNothing(exchange);
        assertEquals(2 * READS, wire.requests);
    }

    @Test
    void readsOfBodiesAllocateNothing() {
        ByteBuf body = read("x".repeat(32 * 1024));
        long length = 4L * READS * body.readableBytes();
        tracker.onBytes(Side.DOWNSTREAM, read("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n"));
        tracker.onBytes(Side.UPSTREAM, read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
        ByteBuf chunk = read("1000\r\n" + "y".repeat(0x1000) + "\r\n");
        Runnable reads = () -> {
            tracker.onBytes(Side.DOWNSTREAM, body);
            tracker.onBytes(Side.UPSTREAM, chunk);
        };

        assertAllocatesNothing(reads);
        assertTrue(tracker.exchangeOpen());
        assertEquals(0, wire.opaque);
    }

    @Test
    void aTrackerIsSmall() {
        Http1Tracker[] trackers = new Http1Tracker[TRACKERS];
        fill(trackers);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        fill(trackers);
        long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / TRACKERS;

        assertTrue(each >= 64, each + " bytes cannot be all");
        assertTrue(each <= TRACKER_BYTES_MAX + UNANSWERED_BYTES, "a tracker takes " + each + " bytes");
    }

    private void fill(Http1Tracker[] trackers) {
        for (int i = 0; i < trackers.length; i++) {
            trackers[i] = new Http1Tracker(wire);
        }
    }

    private static void assertAllocatesNothing(Runnable reads) {
        repeat(reads);
        long before = THREADS.getCurrentThreadAllocatedBytes();
        repeat(reads);
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;

        // Less than a byte a read: what the machine itself allocates now and then is no matter of the reads.
        assertTrue(allocated < READS / 2, READS + " times allocated " + allocated + " bytes");
    }

    private static void repeat(Runnable reads) {
        for (int i = 0; i < READS; i++) {
            reads.run();
        }
    }

    private static ByteBuf read(String text) {
        return Unpooled.wrappedBuffer(WatchedHttp1.bytes(text));
    }

    /** Counts, and does nothing. */
    private static final class CountingWire implements Wire {
        private int requests;
        private int opaque;

        @Override
        public void onRequest() {
            requests++;
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
        public void pass(Side from, ByteBuf data) {
            throw unexpected();
        }

        @Override
        public void insert(ByteBuf data) {
            throw unexpected();
        }

        @Override
        public void hold(ByteBuf data) {
            throw unexpected();
        }

        @Override
        public void release() {
            throw unexpected();
        }

        @Override
        public ByteBuf buffer(int capacity) {
            throw unexpected();
        }

        @Override
        public void switched() {
            throw unexpected();
        }

        @Override
        public void over() {
            throw unexpected();
        }

        @Override
        public void unheeded() {
            throw unexpected();
        }

        private static IllegalStateException unexpected() {
            return new IllegalStateException("all is to be passed on whole");
        }
    }
}
