package dev.tidegate.relay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.protocol.Tracker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a flow holds back, when the flow ends before it is let go. */
class HeldBytesTest {
    private final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true);
    private final EmbeddedChannel source = new EmbeddedChannel();
    private final EmbeddedChannel sink = new EmbeddedChannel();
    private final List<String> told = new ArrayList<>();
    private final Flow flow = new Flow(Side.DOWNSTREAM, source, new Listener(told));

    HeldBytesTest() {
        source.config().setAllocator(allocator);
        flow.connectTo(sink);
        flow.watch(new Watcher(told));
    }

    @AfterEach
    void close() {
        flow.discard();
        source.finishAndReleaseAll();
        sink.finishAndReleaseAll();
    }

    private ByteBuf bytes(String text) {
        return ByteBufUtil.writeAscii(allocator, text);
    }

    @Test
    void whatIsHeldComesInOrderOnceItIsLetGo() {
        flow.hold(bytes("one"));
        flow.onRead(bytes("two"));
        assertTrue(flow.holding());
        assertFalse(source.config().isAutoRead());

        flow.release();

        assertEquals("one", passed());
        assertEquals("two", passed());
        assertFalse(flow.holding());
        assertTrue(source.config().isAutoRead());
    }

    /** The endpoint resets under a write, which gives up what was held; then the operator takes the drain back. */
    @Test
    void whatWasGivenUpIsNotLetGo() {
        flow.hold(bytes("held"));
        flow.stop();

        flow.release();

        assertNull(sink.readOutbound());
        assertEquals(0, allocator.pinnedDirectMemory());
    }

    /** A write of what stands before the held bytes fails, and ends the connection, before they are held. */
    @Test
    void nothingIsHeldByAFlowThatIsOver() {
        flow.discard();

        flow.hold(bytes("late"));

        assertFalse(flow.holding());
        assertEquals(0, allocator.pinnedDirectMemory());
    }

    /** Its socket may still be reset, of which only reading tells. */
    @Test
    void aFlowWhoseEndWasReadIsNotStopped() {
        flow.onFin();

        flow.hold(Unpooled.EMPTY_BUFFER);

        assertTrue(source.config().isAutoRead());
        assertFalse(flow.holding());
    }

    @Test
    void anEndThatCameWhileBytesWereHeldIsShownToTheTrackerAfterThem() {
        flow.hold(bytes("held"));
        flow.onFin();
        told.clear();

        flow.release();

        assertEquals(List.of("tracker: held", "tracker: fin", "owner: fin", "owner: drained"), told);
    }

    /** Nothing stands before it that may yet be let go. */
    @Test
    void anEndThatComesWhileNothingIsHeldYetPasses() {
        flow.hold(Unpooled.EMPTY_BUFFER);

        flow.onFin();

        assertEquals(List.of("tracker: fin", "owner: fin", "owner: drained"), told);
        assertFalse(flow.holding());
    }

    @Test
    void whatNobodyWillAnswerIsReadAndDroppedUpToTheEnd() {
        flow.hold(bytes("held"));

        flow.dropRest();
        flow.onRead(bytes("and more"));

        assertTrue(source.config().isAutoRead());
        assertNull(sink.readOutbound());
        assertEquals(0, allocator.pinnedDirectMemory());
        flow.onFin();
        assertEquals(List.of("tracker: fin", "owner: fin", "owner: drained"), told);
    }

    @Test
    void anEndThatWasReadBeforeTheRestIsDroppedCountsThen() {
        flow.hold(bytes("held"));
        flow.onFin();
        told.clear();

        flow.dropRest();

        assertEquals(List.of("tracker: fin", "owner: fin", "owner: drained"), told);
    }

    private String passed() {
        ByteBuf out = sink.readOutbound();
        String text = out.toString(StandardCharsets.US_ASCII);
        out.release();
        return text;
    }

    /** Notes what the flow tells its connection. */
    private record Listener(List<String> told) implements FlowOwner {
        @Override
        public void onBytes(Side from, int count, long delivered) {}

        @Override
        public void onFin(Side from) {
            told.add("owner: fin");
        }

        @Override
        public void onDrained(Flow drained) {
            told.add("owner: drained");
        }

        @Override
        public void onPause(Side from, boolean paused) {}

        @Override
        public void onHeld(Side from) {}

        @Override
        public void onWriteFailed(Side side, Throwable cause) {}

        @Override
        public void onFault(Side side, Throwable cause) {}

        @Override
        public void onRequest() {}

        @Override
        public void onOpaque() {}

        @Override
        public void onSwitched() {}

        @Override
        public void onOver() {}

        @Override
        public void onUnheeded() {}
    }

    /** Notes what it is shown, and lets all pass. */
    private record Watcher(List<String> notes) implements Tracker {
        @Override
        public boolean onBytes(Side from, ByteBuf data) {
            notes.add("tracker: " + data.toString(StandardCharsets.US_ASCII));
            return true;
        }

        @Override
        public void onFin(Side from) {
            notes.add("tracker: fin");
        }

        @Override
        public boolean recognised() {
            return true;
        }

        @Override
        public void retire() {}

        @Override
        public void stay() {}

        @Override
        public boolean told() {
            return false;
        }

        @Override
        public Protocol protocol() {
            return Protocol.HTTP1;
        }

        @Override
        public RetireHow how() {
            return RetireHow.RESPONSE;
        }

        @Override
        public boolean endsBySilence() {
            return false;
        }

        @Override
        public boolean midExchange() {
            return true;
        }

        @Override
        public boolean exchangeOpen() {
            return true;
        }

        @Override
        public boolean lastWord() {
            return false;
        }
    }
}
