package dev.tidegate.health.probe;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * An end of a connection that no server's log complains of: what is written goes out, then FIN, and what still comes is
 * discarded up to the other side's FIN. Confined to the channel's loop.
 *
 * <p>A socket that is closed with bytes unread, or that gets more after its close, is reset by the kernel; that is what
 * the discarding is for. It is bounded: after 1 s or 1 MiB the socket is closed whatever comes of it.
 */
final class PoliteClose extends ChannelInboundHandlerAdapter {
    static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(1);
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    static final int DISCARDED_MAX_BYTES = 1 << 20;

    private final long patienceNanos;
    private int discardedBytes;
    private Future<?> finTimer;
    private Future<?> closeTimer;

    private PoliteClose(long patienceNanos) {
        this.patienceNanos = patienceNanos;
    }

    /** Sends FIN once all is written. This side keeps the TIME_WAIT. */
    static void finFirst(Channel channel) {
        begin(channel, 0);
    }

    /**
     * Leaves the first FIN to the other side, which has been asked to close and so keeps the TIME_WAIT; if none has come
     * after 200 ms, sends it.
     */
    static void finSecond(Channel channel) {
        begin(channel, PATIENCE_NANOS);
    }

    private static void begin(Channel channel, long patienceNanos) {
        if (!channel.isActive()) {
            channel.close();
            return;
        }
        // At the head: what is parsed behind it is of no interest any more, and a close from here asks no codec.
        channel.pipeline().addFirst(new PoliteClose(patienceNanos));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        ctx.channel().config().setAutoRead(true);
        closeTimer = ctx.executor().schedule((Runnable) ctx::close, BOUND_NANOS, TimeUnit.NANOSECONDS);
        if (patienceNanos == 0) {
            fin(ctx);
        } else {
            finTimer = ctx.executor().schedule(() -> fin(ctx), patienceNanos, TimeUnit.NANOSECONDS);
        }
    }

    private static void fin(ChannelHandlerContext ctx) {
        // Shutting the output down drops what is queued; an empty write behind all others tells when nothing is.
        ChannelFuture written = ctx.writeAndFlush(Unpooled.EMPTY_BUFFER);
        written.addListener(sent -> {
            if (!sent.isSuccess() || !(ctx.channel() instanceof DuplexChannel duplex) || duplex.isInputShutdown()) {
                ctx.close();
            } else {
                duplex.shutdownOutput();
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof ByteBuf bytes) {
            discardedBytes += bytes.readableBytes();
        }
        ReferenceCountUtil.release(message);
        if (discardedBytes > DISCARDED_MAX_BYTES) {
            ctx.close();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        // Those behind were given nothing.
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            ctx.close();
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable reset) {
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        cancelTimers();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        cancelTimers();
    }

    private void cancelTimers() {
        closeTimer.cancel(false);
        if (finTimer != null) {
            finTimer.cancel(false);
        }
    }
}
