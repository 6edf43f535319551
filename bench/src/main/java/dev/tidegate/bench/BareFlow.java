package dev.tidegate.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;

/**
 * One direction of a bare connection's bytes: what is read on one side is written to the other at once. Confined to the
 * loop that both sides live on.
 */
final class BareFlow extends ChannelInboundHandlerAdapter {
    private final SocketChannel source;
    private final SocketChannel sink;
    private BareFlow opposite;
    private ChannelFuture lastWrite;
    private boolean sinkConnected;
    /** The source has sent its FIN. */
    private boolean sourceEnded;
    /** The source has ended, and the sink was told. */
    private boolean ended;

    private final ChannelFutureListener passEnd = this::passEnd;

    BareFlow(SocketChannel source, SocketChannel sink) {
        this.source = source;
        this.sink = sink;
    }

    /** Makes the two directions know each other, once, before any event. */
    void pair(BareFlow opposite) {
        this.opposite = opposite;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        // What came with a FIN is handed over even while auto-read is off, so bytes may come before the sink is there.
        lastWrite = sinkConnected ? sink.writeAndFlush((ByteBuf) message) : sink.write((ByteBuf) message);
        if (!sink.isWritable()) {
            source.config().setAutoRead(false);
        }
    }

    /** This side takes bytes again (or no more): the opposite direction, which writes here, goes on (or pauses). */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        // Not after its FIN: nothing is left to read.
        if (source.isWritable() && !opposite.sourceEnded) {
            sink.config().setAutoRead(true);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            sourceEnded = true;
            if (sinkConnected) {
                passEndAfterLastWrite();
            }
        }
    }

    /** The sink takes bytes: what has come before goes out, and reading begins. */
    void onSinkConnected() {
        sinkConnected = true;
        sink.flush();
        if (sourceEnded) {
            passEndAfterLastWrite();
        } else {
            source.config().setAutoRead(true);
        }
    }

    private void passEndAfterLastWrite() {
        // On io_uring a flushed write is still under way; a FIN sent now would overtake it and lose its bytes.
        if (lastWrite == null) {
            passEnd(null);
        } else {
            lastWrite.addListener(passEnd);
        }
    }

    private void passEnd(ChannelFuture written) {
        if (written != null && !written.isSuccess()) {
            abort();
            return;
        }
        ended = true;
        if (opposite.ended) {
            // Both ends have been read: closing sends the second FIN without the calls of a shutdown.
            source.close();
            sink.close();
        } else {
            sink.shutdownOutput();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (!ended || !opposite.ended) {
            abort();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        abort();
    }

    /** Ends both sides with a reset, so that a truncated stream never looks like a whole one. */
    void abort() {
        reset(source);
        reset(sink);
    }

    private static void reset(SocketChannel channel) {
        if (channel.isOpen()) {
            channel.config().setSoLinger(0);
            channel.close();
        }
    }

    @Override
    public String toString() {
        return describe(source) + " -> " + describe(sink) + (ended ? " (ended)" : "");
    }

    private static String describe(Channel channel) {
        return String.valueOf(channel.remoteAddress());
    }
}
