package dev.tidegate.real;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * An endpoint that answers with streams of tokens over TLS, as language models do, and clients that read one stream each and
 * then keep their connection until it is ended. Both on event loops of their own, however many streams there are.
 *
 * <p>The client's request is the stream's seed (8 bytes); a token is its number (4 bytes) and some bytes of text; the last one
 * has the number {@link #LAST}.
 */
final class TokenStreams implements AutoCloseable {
    /**
     * How tokens come.
     *
     * @param length of a stream
     * @param plannedPause in its middle, as when a model calls a tool
     */
    record Shape(Duration length, Duration plannedPause) {}

    /** One stream, as its client saw it. Written by the client's loop. */
    static final class Stream {
        private volatile long tokens;
        private volatile long endedNanos; // 0 until the last token
        private volatile long closedNanos; // 0 until the connection ended
        private volatile boolean outOfOrder;
        private volatile Throwable fault;

        boolean closed() {
            return closedNanos != 0;
        }

        boolean truncated() {
            return endedNanos == 0;
        }

        boolean outOfOrder() {
            return outOfOrder;
        }

        Throwable fault() {
            return fault;
        }

        long tokens() {
            return tokens;
        }

        /** From the last token to the connection's end. */
        Duration keptAfterEnd() {
            return Duration.ofNanos(closedNanos - endedNanos);
        }
    }

    private static final int LAST = -1;
    private static final int TOKEN_BYTES = 24;
    private static final double MEDIAN_GAP_MILLIS = 40;
    private static final double P99_GAP_MILLIS = 300;
    /** Standard normal quantile of 99 %. */
    private static final double P99 = 2.3263;
    /** So that a planned pause of 2 s is the longest of all. */
    private static final double LONGEST_GAP_MILLIS = 1_900;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final SslContext clientTls;
    private final Shape shape;
    private final Channel server;

    private TokenStreams(SelfSigned pair, Shape shape) throws Exception {
        this.shape = shape;
        SslContext serverTls = SslContextBuilder.forServer(
                        pair.certificate().toFile(), pair.key().toFile())
                .sslProvider(SslProvider.JDK)
                .build();
        clientTls = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(pair.certificate().toFile())
                .endpointIdentificationAlgorithm("")
                .build();
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(initializer(serverTls, null))
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
    }

    /** Listens. */
    static TokenStreams start(SelfSigned pair, Shape shape) throws Exception {
        return new TokenStreams(pair, shape);
    }

    String hostPort() {
        return "127.0.0.1:" + ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** Opens that many streams through a proxy, each with a seed of its own. */
    List<Stream> open(InetSocketAddress proxy, int count, long firstSeed) {
        List<Stream> streams = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Stream stream = new Stream();
            streams.add(stream);
            new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .handler(initializer(clientTls, new ReaderOf(stream, firstSeed + i)))
                    .connect(proxy);
        }
        return streams;
    }

    private ChannelInitializer<Channel> initializer(SslContext tls, ReaderOf reader) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                ChannelPipeline pipeline = channel.pipeline();
                pipeline.addLast(tls.newHandler(channel.alloc()));
                pipeline.addLast(reader == null ? new Writer() : reader);
            }
        };
    }

    /** The endpoint's side. */
    private final class Writer extends SimpleChannelInboundHandler<ByteBuf> {
        private Random random;
        private double leftMillis;
        private boolean pausePlanned = true;
        private int next;

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf request) {
            random = new Random(request.readLong());
            leftMillis = speakingMillis();
            ctx.executor().execute(() -> token(ctx));
        }

        private double speakingMillis() {
            return shape.length().minus(shape.plannedPause()).toMillis();
        }

        private void token(ChannelHandlerContext ctx) {
            if (!ctx.channel().isActive()) {
                return;
            }
            boolean last = leftMillis <= 0;
            ByteBuf token = ctx.alloc().buffer(TOKEN_BYTES);
            token.writeInt(last ? LAST : next++).writeZero(TOKEN_BYTES - Integer.BYTES);
            ctx.writeAndFlush(token);
            if (!last) {
                ctx.executor().schedule(() -> token(ctx), (long) (gapMillis() * 1e6), TimeUnit.NANOSECONDS);
            }
        }

        private double gapMillis() {
            if (pausePlanned && leftMillis <= speakingMillis() / 2) {
                pausePlanned = false;
                return shape.plannedPause().toMillis();
            }
            double sigma = Math.log(P99_GAP_MILLIS / MEDIAN_GAP_MILLIS) / P99;
            double gap = Math.min(LONGEST_GAP_MILLIS, MEDIAN_GAP_MILLIS * Math.exp(sigma * random.nextGaussian()));
            leftMillis -= gap;
            return gap;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // the client's side tells how its stream ended
        }
    }

    /** The client's side. */
    private static final class ReaderOf extends SimpleChannelInboundHandler<ByteBuf> {
        private final Stream stream;
        private final long seed;
        private ByteBuf part; // of a token
        private int next;

        ReaderOf(Stream stream, long seed) {
            this.stream = stream;
            this.seed = seed;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            part = ctx.alloc().buffer(TOKEN_BYTES);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            part.release();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
                ctx.writeAndFlush(ctx.alloc().buffer(Long.BYTES).writeLong(seed));
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
            while (data.isReadable()) {
                part.writeBytes(data, Math.min(data.readableBytes(), TOKEN_BYTES - part.readableBytes()));
                if (part.readableBytes() == TOKEN_BYTES) {
                    onToken(part.readInt());
                    part.clear();
                }
            }
        }

        private void onToken(int number) {
            if (number == LAST) {
                stream.endedNanos = System.nanoTime();
            } else if (number == next) {
                next++;
                stream.tokens = next;
            } else {
                stream.outOfOrder = true;
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            stream.closedNanos = System.nanoTime();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            stream.fault = cause;
            ctx.close();
        }
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
