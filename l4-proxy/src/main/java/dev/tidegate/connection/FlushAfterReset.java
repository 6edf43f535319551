package dev.tidegate.connection;

import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.model.Side;
import dev.tidegate.relay.Flow;
import io.netty.channel.Channel;

/**
 * One side has reset: what it had sent before goes to the other side first, which then is reset too. It is given up when
 * nothing of it moves for {@link #PATIENCE_NANOS}.
 *
 * <p>Confined to the connection's worker.
 */
final class FlushAfterReset implements LastAct {
    /** Without progress for this long, what is still queued after a reset is given up. */
    static final long PATIENCE_NANOS = 1_000_000_000L;

    private final Connection connection;
    private final Side alive;
    private final Channel channel;
    private final Flow flow;
    private final Sockets sockets;
    private final Progress progress;
    private final Alarm alarm;

    /** @param alive the side that has not reset */
    FlushAfterReset(Connection connection, Side alive, Sides sides, Sockets sockets, Progress progress, Alarm alarm) {
        this.connection = connection;
        this.alive = alive;
        this.channel = sides.channel(alive);
        this.flow = sides.into(alive);
        this.sockets = sockets;
        this.progress = progress;
        this.alarm = alarm;
    }

    void begin(long nowNanos) {
        progress.moved(nowNanos);
        progress.forgetDelivery();
        onDeadline(nowNanos);
    }

    @Override
    public void onDeadline(long nowNanos) {
        // One number: it changes with what the process writes, and with what the kernel delivers.
        progress.lookAtDelivery(flow.writeProgress() - sockets.undelivered(channel), nowNanos);
        boolean flushed = flow.queuedBytes() == 0 && sockets.undelivered(channel) == 0;
        if (flushed || progress.silentNanos(nowNanos) >= PATIENCE_NANOS) {
            connection.finishByReset(channel);
        } else {
            alarm.at(nowNanos + Deadlines.TICK_NANOS);
        }
    }

    /** Its own last byte changes nothing: it gets a reset all the same. */
    @Override
    public void onFin(Side from) {}

    /** That all has left the process is not enough: the kernel has it now. */
    @Override
    public void onDrained(Flow drained) {}

    @Override
    public void onWriteFailed(Side side) {
        // A close of ours fails what is queued, and tells of that before it returns: no news of the side that has
        // reset.
        if (side == alive) {
            connection.finishByReset(channel);
        }
    }

    @Override
    public void onFault(Side side) {
        if (side == alive) {
            connection.finish();
        }
    }
}
