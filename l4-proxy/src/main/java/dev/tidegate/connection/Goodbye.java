package dev.tidegate.connection;

import dev.tidegate.model.Side;
import dev.tidegate.relay.Flow;

/**
 * The end that Tidegate brings about: FIN to the client behind the last byte, and time for it to read. What it sends
 * meanwhile is read and thrown away, since a socket that is closed over unread bytes resets, and a reset takes from the
 * client what it has not read yet.
 *
 * <p>Confined to the connection's worker.
 */
final class Goodbye implements LastAct {
    private static final long SECOND = 1_000_000_000L;
    /** How long the client may take to read the last bytes, as long as they still drain to it. */
    private static final long DRAINING_NANOS = 30 * SECOND;
    /** How long a client that was sent a last word and FIN at the hard limit has until it is reset. */
    private static final long PARTING_NANOS = SECOND;

    private final Connection connection;
    private final Sides sides;
    private final Sockets sockets;
    private final Alarm alarm;
    private final boolean parting;
    private final long untilNanos;

    private Goodbye(
            Connection connection, Sides sides, Sockets sockets, Alarm alarm, boolean parting, long untilNanos) {
        this.connection = connection;
        this.sides = sides;
        this.sockets = sockets;
        this.alarm = alarm;
        this.parting = parting;
        this.untilNanos = untilNanos;
    }

    /** At a quiet moment: the client may read until that time, and longer while it does. */
    static Goodbye lingering(Connection connection, Sides sides, Sockets sockets, Alarm alarm, long untilNanos) {
        return new Goodbye(connection, sides, sockets, alarm, false, untilNanos);
    }

    /** In the middle of something, at the hard limit: a last word and FIN, and a reset soon after. */
    static Goodbye parting(Connection connection, Sides sides, Sockets sockets, Alarm alarm, long nowNanos) {
        return new Goodbye(connection, sides, sockets, alarm, true, nowNanos + PARTING_NANOS);
    }

    void begin() {
        alarm.at(untilNanos);
        if (sides.toClient().state() == Flow.State.SHUT) {
            sendFin();
        } else {
            sides.toClient().end();
        }
    }

    /** All that the client is to get has left this process. */
    private void sendFin() {
        sides.toClient().sendFin();
        if (sides.toEndpoint().finRead()) {
            connection.finish();
        }
    }

    @Override
    public void onDeadline(long nowNanos) {
        if (parting) {
            Resets.reset(sides.downstream());
            connection.finish();
            return;
        }
        boolean unsent = sides.toClient().queuedBytes() != 0;
        boolean draining = unsent || sockets.undelivered(sides.downstream()) > 0;
        if (draining && nowNanos - untilNanos < DRAINING_NANOS) {
            alarm.at(nowNanos + SECOND);
            return;
        }
        if (unsent) {
            Resets.reset(sides.downstream()); // a FIN would make what it got look whole
        }
        connection.finish();
    }

    @Override
    public void onFin(Side from) {
        if (from == Side.DOWNSTREAM && sides.toClient().finSent()) {
            connection.finish();
        }
    }

    @Override
    public void onDrained(Flow flow) {
        if (flow == sides.toClient()) {
            sendFin();
        }
    }

    @Override
    public void onWriteFailed(Side side) {
        if (side == Side.DOWNSTREAM && !sides.toClient().finSent()) {
            connection.finish();
        }
    }

    @Override
    public void onFault(Side side) {
        if (side == Side.DOWNSTREAM) {
            connection.finish();
        }
    }
}
