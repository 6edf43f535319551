package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What watching takes: no memory per read, and little per connection. */
class Http2TrackerCostTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5;
    private static final int PAIRS = 2_000;
    private static final int TRACKERS = 10_000;

    private final Counting wire = new Counting();
    private final Http2Tracker tracker = new Http2Tracker(wire, new SplittableRandom(1));

    @Test
    void watchingStreamsThatComeAndGoAllocatesNothing() {
        ByteBuf request = bytes(Http2Bytes.request(1, Http2Bytes.END_STREAM));
        ByteBuf response =
                bytes(Http2Bytes.response(1, Http2Bytes.NONE), Http2Bytes.data(1, 100, Http2Bytes.END_STREAM));
        int dataHead = Http2Bytes.response(1, Http2Bytes.NONE).length;
        greet();
        int[] nextId = {1};

        long least = leastAllocated(() -> {
            exchange(nextId[0], PAIRS, request, response, dataHead);
            nextId[0] += 2 * PAIRS;
        });

        assertEquals(ROUNDS * PAIRS, wire.requests);
        assertEquals(0, least, "bytes allocated");
    }

    @Test
    void watchingLongBodiesAllocatesNothing() {
        ByteBuf piece = bytes(Http2Bytes.data(1, 16_384, Http2Bytes.NONE));
        ByteBuf half = piece.slice(0, 8_000);
        ByteBuf otherHalf = piece.slice(8_000, piece.readableBytes() - 8_000);
        greet();
        show(Side.DOWNSTREAM, bytes(Http2Bytes.request(1, Http2Bytes.NONE)));

        long least = leastAllocated(() -> halves(half, otherHalf));

        assertTrue(tracker.exchangeOpen());
        assertEquals(0, least, "bytes allocated");
    }

    @Test
    void aTrackerTakes128Bytes() {
        Http2Tracker[] trackers = new Http2Tracker[TRACKERS];
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < TRACKERS; i++) {
            trackers[i] = new Http2Tracker(wire, random);
        }

        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < TRACKERS; i++) {
            trackers[i] = new Http2Tracker(wire, random);
        }
        long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / TRACKERS;

        assertTrue(each <= 128, () -> each + " bytes");
    }

    /** Of several rounds: the first loads classes, and any of them may be charged with what the JVM does for itself. */
    private static long leastAllocated(Runnable round) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            round.run();
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private void greet() {
        show(Side.DOWNSTREAM, bytes(Http2Bytes.PREFACE, Http2Bytes.settings(0)));
        show(Side.UPSTREAM, bytes(Http2Bytes.settings(0)));
    }

    private void exchange(int firstId, int count, ByteBuf request, ByteBuf response, int dataHead) {
        for (int id = firstId; id < firstId + 2 * count; id += 2) {
            request.setInt(5, id);
            response.setInt(5, id);
            response.setInt(dataHead + 5, id);
            show(Side.DOWNSTREAM, request);
            show(Side.UPSTREAM, response);
        }
    }

    private void halves(ByteBuf half, ByteBuf otherHalf) {
        for (int i = 0; i < PAIRS; i++) {
            show(Side.UPSTREAM, half);
            show(Side.UPSTREAM, otherHalf);
            show(Side.DOWNSTREAM, half);
            show(Side.DOWNSTREAM, otherHalf);
        }
    }

    private void show(Side from, ByteBuf data) {
        if (!tracker.onBytes(from, data)) {
            throw new AssertionError("taken over");
        }
    }

    private static ByteBuf bytes(byte[]... parts) {
        return Unpooled.wrappedBuffer(Http2Bytes.join(parts));
    }

    /** A wire that takes no memory itself. */
    private static final class Counting implements Wire {
        int requests;

        @Override
        public void onRequest() {
            requests++;
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
        public void become(Tracker tracker) {
            throw new AssertionError("it is not for this tracker to detect");
        }

        @Override
        public void opaque() {
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

        private static AssertionError unexpected() {
            return new AssertionError("nothing but requests is expected");
        }
    }
}
