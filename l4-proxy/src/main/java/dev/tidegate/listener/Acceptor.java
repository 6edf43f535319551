package dev.tidegate.listener;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Takes connections off one listening socket and hands each to a worker. When accepting fails (no descriptor left, no
 * memory), it pauses, longer each time, and goes on: the socket is never given up, and while it pauses the loop does not
 * spin over what it cannot accept.
 *
 * <p>It knows the socket by its key and not whose it is: the snapshot says that, so a socket that goes to another frontend is
 * not touched.
 *
 * <p>Confined to the loop of the worker that has the listening socket.
 */
final class Acceptor extends ChannelInboundHandlerAdapter {
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long LONGEST_PAUSE_MILLIS = 1_000;

    private final String key;
    private final String listener;
    private final Transport transport;
    private final Placement placement;
    private final int own;
    private final boolean refuseIpv6;
    private final AcceptFaults faults;
    private long pauseMillis = FIRST_PAUSE_MILLIS;
    private volatile boolean parked; // writer: control
    private boolean paused;
    private boolean stopped;

    Acceptor(
            String key,
            String listener,
            Transport transport,
            Placement placement,
            int own,
            boolean refuseIpv6,
            AcceptFaults faults) {
        this.key = key;
        this.listener = listener;
        this.transport = transport;
        this.placement = placement;
        this.own = own;
        this.refuseIpv6 = refuseIpv6;
        this.faults = faults;
    }

    /**
     * Has it reset whoever comes, or no longer. For a socket that nobody listens on and that cannot be closed, since it
     * would be gone for good: clients that were left in its queue would wait without end. Any thread.
     */
    void park(boolean refuse) {
        parked = refuse;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        Channel accepted = (Channel) message;
        pauseMillis = FIRST_PAUSE_MILLIS;
        if (parked || (refuseIpv6 && isIpv6(accepted))) {
            accepted.config().setOption(ChannelOption.SO_LINGER, 0);
            accepted.unsafe().closeForcibly();
            return;
        }
        transport.prepareAccepted(accepted);
        placement.take(own).postAccepted(accepted, key, listener);
    }

    private static boolean isIpv6(Channel channel) {
        return channel.remoteAddress() instanceof InetSocketAddress address
                && address.getAddress() instanceof Inet6Address;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (paused || stopped) {
            return; // one failed accept may be told of more than once
        }
        long now = pauseMillis;
        paused = true;
        pauseMillis = Math.min(2 * now, LONGEST_PAUSE_MILLIS);
        ctx.channel().config().setAutoRead(false);
        ctx.executor().schedule(() -> resume(ctx), now, TimeUnit.MILLISECONDS);
        // Last: should telling fail (with nothing left, much can), the listener still comes back.
        faults.onAcceptFailed(listener, cause, now);
    }

    private void resume(ChannelHandlerContext ctx) {
        paused = false;
        if (!stopped) {
            ctx.channel().config().setAutoRead(true);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        stopped = true;
    }
}
