package dev.tidegate.relay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Side;
import dev.tidegate.testkit.LeakGuard;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What waits in a flow holds about as much memory as it has bytes, however small the pieces that it came in. */
class FlowMemoryTest {
    private static final int RECEIVE_BUFFER = 32 * 1024;
    private static final int PIECES = 500;

    private final PooledByteBufAllocator allocator = new PooledByteBufAllocator(true);
    private final EmbeddedChannel source = new EmbeddedChannel();
    private final EmbeddedChannel blocked = new EmbeddedChannel(new LostWrites()) {
        @Override
        protected void doWrite(ChannelOutboundBuffer queue) {
            // Takes nothing: the kernel's buffer is full.
        }
    };
    private final Flow flow = new Flow(Side.DOWNSTREAM, source, new NoOwner());

    FlowMemoryTest() {
        source.config().setAllocator(allocator);
    }

    @AfterEach
    void release() {
        flow.discard();
        blocked.close();
        source.close();
    }

    @Test
    void smallPiecesTowardABlockedSinkHoldLittleMoreThanTheirBytes() {
        // The embedded channel tells of each write that its close failed, where a real one does not.
        LeakGuard.installed().expect("EmbeddedChannel: More than one exception .*ClosedChannelException");
        flow.connectTo(blocked);
        feedOneByteEach();

        assertEquals(PIECES, flow.bytesRead());
        assertTrue(allocator.pinnedDirectMemory() < 2 * RECEIVE_BUFFER, this::held);
    }

    @Test
    void smallPiecesBeforeTheSinkIsConnectedHoldLittleMoreThanTheirBytes() {
        feedOneByteEach();

        assertEquals(PIECES, flow.earlyBytes());
        assertTrue(allocator.pinnedDirectMemory() < RECEIVE_BUFFER, this::held);
    }

    @Test
    void earlyPiecesGoOutInOrder() {
        feedOneByteEach();
        EmbeddedChannel sink = new EmbeddedChannel();
        flow.connectTo(sink);

        int next = 0;
        for (ByteBuf out = sink.readOutbound(); out != null; out = sink.readOutbound()) {
            while (out.isReadable()) {
                assertEquals((byte) next++, out.readByte());
            }
            out.release();
        }
        assertEquals(PIECES, next);
        sink.close();
    }

    private void feedOneByteEach() {
        for (int i = 0; i < PIECES; i++) {
            ByteBuf received = allocator.directBuffer(RECEIVE_BUFFER);
            received.writeByte(i);
            flow.onRead(received);
        }
    }

    private String held() {
        return allocator.pinnedDirectMemory() + " bytes held for " + PIECES;
    }

    /** Takes the failures of the writes that are still queued when the blocked channel is closed: they are meant. */
    private static final class LostWrites extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            assertInstanceOf(ClosedChannelException.class, cause);
        }
    }

    /** Asks for nothing, as the flow is looked at itself. */
    private static final class NoOwner implements FlowOwner {
        @Override
        public void onBytes(Side from, int count, long delivered) {}

        @Override
        public void onFin(Side from) {}

        @Override
        public void onDrained(Flow drained) {}

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
}
