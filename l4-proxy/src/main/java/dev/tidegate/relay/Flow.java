package dev.tidegate.relay;

import dev.tidegate.model.Side;
import dev.tidegate.protocol.Tracker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.DuplexChannel;
import java.util.ArrayDeque;

/**
 * A direction of a connection's bytes: read from one side, written to the other, in order, none changed, none dropped but
 * by the word of a {@link Tracker}.
 *
 * <pre>
 *   OPEN --FIN read, end()--> ENDING --last byte written--> SHUT
 *     \_______________________\________discard()_________/
 * </pre>
 *
 * <p>Bytes that come before the other side is connected wait here. Whenever more waits than the watermark allows, reading
 * pauses; so a connection holds at most the watermark and one receive buffer for each direction.
 *
 * <p>What is read is written and flushed at once, in small pieces: big batches fall out of the cache (bench:
 * {@code RelayBenchmark}).
 *
 * <p>Confined to its worker's loop. Hot: no allocation, no log, no clock.
 */
public final class Flow implements ChannelFutureListener {
    /** The life of a direction. */
    public enum State {
        /** Bytes may come. */
        OPEN,
        /** The end has been read; bytes are still queued. */
        ENDING,
        /** Over. What still comes is dropped. */
        SHUT
    }

    /** Bytes that may wait for the other side to be connected. */
    static final int EARLY_BYTES = 64 * 1024;

    /** The least that early bytes after the first are kept in, so that many small ones share a buffer. */
    private static final int EARLY_BUFFER_BYTES = 4 * 1024;

    /** A read shorter than this that must wait is moved to a buffer of its size: it came in a receive buffer. */
    private static final int SMALL_BYTES = 16 * 1024;

    private final Side source;
    private final Channel from;
    private final FlowOwner owner;
    private State state = State.OPEN;
    private Channel to;
    private Tracker tracker; // null when nothing is looked for
    private ArrayDeque<ByteBuf> early;
    private int earlyBytes;
    private ArrayDeque<ByteBuf> held; // not null while bytes are held back
    private boolean paused;
    private boolean finRead;
    private boolean finSent;
    private boolean discarding;
    private boolean dropping; // what comes, while the end still counts
    private long bytesRead;
    private long bytesPassed; // read and handed on, or inserted
    private long bytesSettled;

    /**
     * @param source the side that bytes come from
     * @param from its channel
     * @param owner what is told of events
     */
    public Flow(Side source, Channel from, FlowOwner owner) {
        this.source = source;
        this.from = from;
        this.owner = owner;
    }

    /** The side that bytes come from. */
    public Side source() {
        return source;
    }

    /** Where its life stands. */
    public State state() {
        return state;
    }

    /** Whether its end has been read, or it was given up. */
    public boolean ended() {
        return state != State.OPEN;
    }

    /** Whether reading is paused. */
    public boolean paused() {
        return paused;
    }

    /** Whether our FIN for it has been sent. */
    public boolean finSent() {
        return finSent;
    }

    /** Bytes read from the source so far. */
    public long bytesRead() {
        return bytesRead;
    }

    /** Whether the source has ended its direction. */
    public boolean finRead() {
        return finRead;
    }

    /** Bytes handed on so far and told of as delivered. */
    public long bytesSettled() {
        return bytesSettled;
    }

    /** Bytes known to have left so far, told of or not. */
    public long bytesDelivered() {
        long queued = earlyBytes;
        if (to != null) {
            ChannelOutboundBuffer queue = to.unsafe().outboundBuffer();
            if (queue == null && !finSent) {
                // The socket refused a write: what was queued then is lost, and of what is not settled none is sure.
                return bytesSettled;
            } else if (queue != null && queue.totalPendingWriteBytes() > 0) {
                queued = exactlyQueued(queue);
            }
        }
        return Math.max(bytesSettled, bytesPassed - queued);
    }

    /** Bytes that came before the other side was connected and still wait for it. */
    public int earlyBytes() {
        return earlyBytes;
    }

    /** The other side is connected: what waited goes there, and so will all that comes. */
    public void connectTo(Channel channel) {
        to = channel;
        if (early != null) {
            for (ByteBuf data = early.poll(); data != null; data = early.poll()) {
                to.write(data, to.voidPromise());
            }
            early = null;
            earlyBytes = 0;
            to.flush();
        }
        if (paused && to.isWritable()) {
            resume();
        }
        if (state == State.ENDING) {
            awaitDrained();
        }
    }

    /** From now on that tracker is shown what comes; null for none. */
    public void watch(Tracker now) {
        tracker = now;
    }

    /** Bytes were read. Takes over the buffer. */
    void onRead(ByteBuf data) {
        int count = data.readableBytes();
        if (state != State.OPEN || dropping) {
            data.release();
            return;
        }
        long delivered = to == null || queuedBytes() != 0 ? 0 : bytesPassed - bytesSettled;
        bytesSettled += delivered;
        bytesRead += count;
        owner.onBytes(source, count, delivered);
        if (held != null) {
            held.add(fitted(data, count));
        } else if (tracker == null || tracker.onBytes(source, data)) {
            pass(data);
        }
    }

    /** Hands bytes on to the other side, or keeps them for it. Takes over the buffer. */
    void pass(ByteBuf data) {
        int count = data.readableBytes();
        if (state != State.OPEN || count == 0) {
            data.release();
            return;
        }
        bytesPassed += count;
        if (to == null) {
            keep(data, count);
            return;
        }
        to.writeAndFlush(queuedBytes() != 0 && count < SMALL_BYTES ? fitted(data, count) : data, to.voidPromise());
        if (!to.isWritable()) {
            pause();
        }
    }

    /**
     * Holds bytes back, and all that come after them; reading stops. Takes over the buffer. Nothing comes by a flow that has
     * ended, and what is left is dropped.
     */
    void hold(ByteBuf data) {
        if (state != State.OPEN) {
            data.release();
            return;
        }
        held = new ArrayDeque<>(2);
        held.add(fitted(data, data.readableBytes()));
        from.config().setAutoRead(false);
        owner.onHeld(source);
    }

    /** Whether bytes are held back, and reading has stopped for that. */
    public boolean holding() {
        return held != null;
    }

    /**
     * Hands on what was held back, past the tracker if there still is one, and goes on as if nothing had been. Does nothing
     * when nothing is held: the flow may have been given up meanwhile.
     */
    void release() {
        ArrayDeque<ByteBuf> waiting = held;
        if (waiting == null) {
            return;
        }
        held = null;
        for (ByteBuf data = waiting.poll(); data != null; data = waiting.poll()) {
            if (held != null) {
                held.add(data); // the tracker has seen the last request again
            } else if (tracker == null || !data.isReadable() || tracker.onBytes(source, data)) {
                pass(data);
            }
        }
        if (held != null) {
            return;
        }
        if (finRead && state == State.OPEN) {
            finish();
        } else if (!paused) {
            from.config().setAutoRead(true);
        }
    }

    /**
     * Drops what is held back and whatever still comes, for nobody is going to answer it; reads on up to the end, which counts
     * as ever. Does nothing when nothing is held.
     */
    public void dropRest() {
        if (held == null) {
            return;
        }
        dropHeld();
        dropping = true;
        if (finRead && state == State.OPEN) {
            finish();
        } else if (!paused) {
            from.config().setAutoRead(true);
        }
    }

    private void dropHeld() {
        held.forEach(ByteBuf::release);
        held = null;
    }

    /** Moves bytes to a buffer of their size, so that what waits holds about as much memory as it has bytes. */
    private ByteBuf fitted(ByteBuf data, int count) {
        ByteBuf copy = from.alloc().directBuffer(count);
        copy.writeBytes(data);
        data.release();
        return copy;
    }

    private void keep(ByteBuf data, int count) {
        if (early == null) {
            early = new ArrayDeque<>(4);
            early.add(fitted(data, count));
        } else {
            ByteBuf last = early.peekLast();
            if (!last.isWritable(count)) {
                last = from.alloc().directBuffer(Math.max(count, EARLY_BUFFER_BYTES));
                early.add(last);
            }
            last.writeBytes(data);
            data.release();
        }
        earlyBytes += count;
        if (earlyBytes >= EARLY_BYTES) {
            pause();
        }
    }

    /** The source has ended this direction. */
    void onFin() {
        if (finRead) {
            return;
        }
        finRead = true;
        if (state == State.OPEN) {
            if (held != null && !holdsBytes()) {
                dropHeld();
            }
            if (held == null) {
                finish();
            } else {
                // What is held stands before the end, and may yet be let go.
                owner.onFin(source);
            }
        } else if (discarding) {
            owner.onFin(source);
        }
    }

    private boolean holdsBytes() {
        for (ByteBuf data : held) {
            if (data.isReadable()) {
                return true;
            }
        }
        return false;
    }

    /** The end has been read, and nothing stands before it any more. */
    private void finish() {
        if (tracker != null) {
            tracker.onFin(source);
        }
        if (state == State.OPEN) {
            endAsRead();
        } else if (discarding) {
            owner.onFin(source);
        }
    }

    private void endAsRead() {
        state = State.ENDING;
        owner.onFin(source);
        if (state == State.ENDING && to != null) {
            awaitDrained();
        }
    }

    /** Ends the direction here, whatever the source does: what was handed on still leaves, what comes is dropped. */
    public void end() {
        if (state == State.OPEN) {
            state = State.ENDING;
            awaitDrained();
        }
    }

    private void awaitDrained() {
        if (queuedBytes() == 0) {
            drained();
        } else {
            // An empty buffer stands behind all others in the queue: when it has left, all have. shutdownOutput()
            // itself does not wait: it would fail what is queued, and on io_uring lose what is on its way to the
            // kernel.
            to.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(this);
        }
    }

    /** The empty buffer behind the last byte has left, or the socket has failed (of which a fault tells). */
    @Override
    public void operationComplete(ChannelFuture future) {
        if (future.isSuccess() && state == State.ENDING) {
            drained();
        }
    }

    private void drained() {
        state = State.SHUT;
        owner.onDrained(this);
    }

    /** Sends the FIN of a flow that has drained, or of one that is ended by us with nothing queued. */
    public void sendFin() {
        if (!finSent && to != null) {
            finSent = true;
            state = State.SHUT;
            // That this fails means that the socket is gone, of which its own fault or end tells.
            ((DuplexChannel) to).shutdownOutput();
            // Its own end now leaves nothing open, so that the transport may close it at once: a call and an exception
            // less than ending its input first, on a socket that the kernel has let go already.
            to.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        }
    }

    /** The sink can take more. */
    void onWritable() {
        if (paused && to != null && to.isWritable()) {
            resume();
        }
    }

    private void pause() {
        if (!paused) {
            paused = true;
            from.config().setAutoRead(false);
            owner.onPause(source, true);
        }
    }

    private void resume() {
        paused = false;
        owner.onPause(source, false);
        if (held == null) {
            from.config().setAutoRead(true);
        }
    }

    /** Gives the direction up: what waits here and what still comes is dropped; reading goes on if it was paused. */
    public void discard() {
        state = State.SHUT;
        discarding = true;
        boolean holding = dropWaiting();
        if (paused) {
            resume();
        } else if (holding) {
            from.config().setAutoRead(true);
        }
    }

    /**
     * Reads on however much waits: the source's socket is dead, so that what it still holds is all that can come, and only
     * by reading does the transport learn of its end.
     */
    public void readToTheEnd() {
        if (paused) {
            resume();
        } else if (held != null) {
            from.config().setAutoRead(true);
        }
    }

    /** Gives the direction up and stops reading. */
    public void stop() {
        state = State.SHUT;
        dropWaiting();
        if (!paused) {
            paused = true;
            from.config().setAutoRead(false);
        }
    }

    /** Lets go of what waits or is held here. Answers whether anything was held. */
    private boolean dropWaiting() {
        if (early != null) {
            early.forEach(ByteBuf::release);
            early = null;
            earlyBytes = 0;
        }
        if (held == null) {
            return false;
        }
        dropHeld();
        return true;
    }

    /** Bytes handed to the sink's queue that have not left it, each message's overhead included; 0 only when none. */
    public long queuedBytes() {
        if (to == null) {
            return earlyBytes;
        }
        ChannelOutboundBuffer queue = to.unsafe().outboundBuffer();
        return queue == null ? 0 : queue.totalPendingWriteBytes();
    }

    /**
     * A number that changes when a blocked write moves bytes, even within one message.
     */
    public long writeProgress() {
        if (to == null) {
            return 0;
        }
        ChannelOutboundBuffer queue = to.unsafe().outboundBuffer();
        return queue == null ? 0 : queue.currentProgress() - queue.totalPendingWriteBytes();
    }

    /**
     * Bytes known to have left, beyond those told of before. To be called last before the sink is closed, and never after.
     */
    public long settle() {
        long delivered = bytesDelivered() - bytesSettled;
        bytesSettled += delivered;
        return delivered;
    }

    private static long exactlyQueued(ChannelOutboundBuffer queue) {
        long[] sum = {0};
        try {
            queue.forEachFlushedMessage(message -> {
                sum[0] += ((ByteBuf) message).readableBytes();
                return true;
            });
        } catch (Exception impossible) {
            throw new IllegalStateException("the queue's visitor throws nothing", impossible);
        }
        return sum[0];
    }
}
