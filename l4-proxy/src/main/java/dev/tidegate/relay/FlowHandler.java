package dev.tidegate.relay;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/**
 * Translates what happens on one side's channel into events of its two flows. Holds no rule of its own.
 *
 * <p>Confined to its worker's loop. Hot: runs once a read.
 */
public final class FlowHandler extends ChannelInboundHandlerAdapter {
    private final Side side;
    private final FlowOwner owner;
    private Flow inbound;
    private Flow outbound;

    /**
     * @param side the side whose channel this stands on
     * @param owner what is told of faults
     */
    public FlowHandler(Side side, FlowOwner owner) {
        this.side = side;
        this.owner = owner;
    }

    /** Sets the flow that is read from this channel, and the one that is written to it. */
    public void join(Flow read, Flow written) {
        inbound = read;
        outbound = written;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        inbound.onRead((ByteBuf) message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        // Ends here: nothing was held back to be flushed.
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (outbound != null) {
            outbound.onWritable();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (inbound == null) {
            return; // of an attempt to connect, which the dial speaks for
        }
        if (event == ChannelInputShutdownEvent.INSTANCE || event == ChannelInputShutdownReadComplete.INSTANCE) {
            inbound.onFin();
        } else if (event == ChannelOutputShutdownEvent.INSTANCE && (outbound == null || !outbound.finSent())) {
            owner.onWriteFailed(side, null);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (inbound == null) {
            return;
        }
        if (cause instanceof ChannelOutputShutdownException || cause instanceof ClosedChannelException) {
            owner.onWriteFailed(side, cause.getCause());
        } else {
            owner.onFault(side, cause);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (inbound == null) {
            return;
        }
        if (outbound != null && outbound.finSent() && inbound.state() == Flow.State.OPEN) {
            // Both directions have ended, ours first: the transport closes the channel and tells of no end of input.
            inbound.onFin();
            return;
        }
        // With half-closure allowed and auto-close off, a channel becomes inactive only when we close it, or when the
        // transport found the socket dead in a way that no read or write told.
        owner.onFault(side, new IOException("the socket was closed under the connection"));
    }
}
