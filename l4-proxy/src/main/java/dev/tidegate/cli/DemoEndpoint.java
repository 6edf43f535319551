package dev.tidegate.cli;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * One of the demo's endpoints, on loopback. It speaks HTTP/1.1, and HTTP/2 with those who begin with its preface. It can close its port for a while, as an endpoint does that is being
 * restarted: connections that are open stay, new ones are refused.
 *
 * <p>Its connections live on the demo's loop; {@link #open} and {@link #closePort} are for any other thread.
 */
final class DemoEndpoint {
    private static final int MAX_REQUEST_BYTES = 64 * 1024;

    private final String name;
    private final EventLoop loop;
    private final ChannelGroup connections;
    private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private Channel port; // null while closed

    /**
     * @param name what it answers with
     * @param loop where its connections live
     */
    DemoEndpoint(String name, EventLoop loop) {
        this.name = name;
        this.loop = loop;
        this.connections = new DefaultChannelGroup(loop);
    }

    String name() {
        return name;
    }

    /** Where it listens; the same address each time it opens. */
    InetSocketAddress address() {
        return address;
    }

    /** Whether new connections are accepted. */
    boolean isOpen() {
        return port != null;
    }

    /**
     * Opens its port.
     *
     * @throws IOException when the port cannot be had
     */
    void open() throws IOException {
        ChannelFuture bind = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connections.add(channel);
                        channel.pipeline().addLast(new Greeting());
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bind.isSuccess()) {
            throw new IOException(
                    "demo endpoint \"" + name + "\" cannot listen on " + address.getHostString() + ":"
                            + address.getPort() + ": " + bind.cause().getMessage(),
                    bind.cause());
        }
        port = bind.channel();
        address = (InetSocketAddress) port.localAddress();
    }

    /** Closes its port; what is connected goes on. */
    void closePort() {
        if (port != null) {
            port.close().awaitUninterruptibly();
            port = null;
        }
    }

    /** Closes its port and its connections. */
    void close() {
        closePort();
        connections.close().awaitUninterruptibly();
    }

    /** Hears by its first bytes what a client speaks: no method begins as the preface does (RFC 9113 section 3.4). */
    private final class Greeting extends ByteToMessageDecoder {
        private static final int PREFACE = ('P' << 24) | ('R' << 16) | ('I' << 8) | ' ';

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            if (in.readableBytes() < Integer.BYTES) {
                return;
            }
            if (in.getInt(in.readerIndex()) == PREFACE) {
                ctx.pipeline()
                        .addLast(
                                Http2FrameCodecBuilder.forServer().build(),
                                new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
                                    @Override
                                    protected void initChannel(Channel stream) {
                                        stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true));
                                        answerOn(stream);
                                    }
                                }),
                                new BreakingOff());
            } else {
                ctx.pipeline().addLast(new HttpServerCodec());
                answerOn(ctx.channel());
            }
            ctx.pipeline().remove(this);
        }

        private void answerOn(Channel channel) {
            channel.pipeline().addLast(new HttpObjectAggregator(MAX_REQUEST_BYTES), new Answering());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // a peer that breaks off before it has said anything
        }
    }

    /** The last of a connection with streams: those hear nothing of what becomes of it. */
    private static final class BreakingOff extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // what that meant for a request, the client counts
        }
    }

    /** Answers every request with the endpoint's name. */
    private final class Answering extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            byte[] body = ("hello from endpoint " + name + "\n").getBytes(StandardCharsets.US_ASCII);
            var response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(body));
            boolean keepAlive = HttpUtil.isKeepAlive(request);
            response.headers()
                    .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN)
                    .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
            HttpUtil.setKeepAlive(response, keepAlive);
            ChannelFuture written = ctx.writeAndFlush(response);
            if (!keepAlive) {
                written.addListener(done -> ctx.close());
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // A peer that breaks off; what that meant for a request, the client counts.
            ctx.close();
        }
    }
}
