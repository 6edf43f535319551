package dev.tidegate.cli;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.codec.http2.HttpConversionUtil;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * One client of the demo: it holds one connection and asks about five times a second. When it is told that its connection
 * ends, by {@code Connection: close} or by GOAWAY, it goes on by a new one. Who sticks speaks HTTP/2, as gRPC does.
 *
 * <p>Confined to the demo's loop, save for {@link #start} and {@link #postStop}.
 */
final class DemoClient {
    private static final int MAX_ANSWER_BYTES = 64 * 1024;
    private static final int ASK_EVERY_MILLIS = 200;
    private static final int LEAST_REQUESTS = 8;
    private static final int MOST_REQUESTS = 20;
    private static final int REQUESTS_BETWEEN_PAUSES = 5;
    private static final int SHORTEST_PAUSE_MILLIS = 2_000;
    private static final int LONGEST_PAUSE_MILLIS = 2_400;

    /** How it keeps its connection. */
    enum Habit {
        /** Leaves after some requests, between two of them, and comes back a moment later on a new connection. */
        ROAMS,
        /** Stays, and pauses now and then, as people do that read an answer: a drain finds its quiet moment there. */
        READS,
        /** Stays for good and never pauses, as a program does; on a new connection at once when the old one has ended. */
        STICKS
    }

    private static final int SHORTEST_ABSENCE_MILLIS = 200;
    private static final int LONGEST_ABSENCE_MILLIS = 1_000;

    private final EventLoop loop;
    private final InetSocketAddress balancer;
    private final Habit habit;
    private final RandomGenerator random;
    private final DemoTotals totals;
    private final Promise<Void> gone;
    private Channel channel; // null while away
    private int requestsLeft;
    private boolean asking;
    private boolean toldToGo;
    private long askedNanos;
    private boolean connecting;
    private boolean answered;
    private boolean held;
    private boolean stopped;

    /**
     * @param loop the demo's
     * @param balancer where to connect
     * @param habit how it keeps its connection
     * @param random the demo's, used on the loop only
     * @param totals where it counts
     */
    DemoClient(EventLoop loop, InetSocketAddress balancer, Habit habit, RandomGenerator random, DemoTotals totals) {
        this.loop = loop;
        this.balancer = balancer;
        this.habit = habit;
        this.random = random;
        this.totals = totals;
        this.gone = loop.newPromise();
    }

    /** Connects after a moment. Any thread. */
    void start() {
        later(this::connect, 0, ASK_EVERY_MILLIS);
    }

    /**
     * Leaves: at once when nothing is asked, else with the answer. Any thread.
     *
     * @return completes when it has left
     */
    Future<Void> postStop() {
        loop.execute(() -> {
            stopped = true;
            if (channel != null && !asking) {
                channel.close();
            }
            noteIfGone();
        });
        return gone;
    }

    private void noteIfGone() {
        if (stopped && channel == null && !connecting) {
            gone.trySuccess(null);
        }
    }

    private void later(Runnable step, int leastMillis, int mostMillis) {
        loop.execute(() -> loop.schedule(step, random.nextLong(leastMillis, mostMillis), TimeUnit.MILLISECONDS));
    }

    /** Whether to come only later. */
    void hold(boolean now) {
        held = now;
    }

    /** Whether it connects, or is connected and had no answer yet. */
    boolean isArriving() {
        return connecting || (channel != null && !answered);
    }

    private void connect() {
        if (stopped) {
            return;
        }
        if (held) {
            comeBackLater();
            return;
        }
        connecting = true;
        new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel made) {
                        if (habit == Habit.STICKS) {
                            made.pipeline()
                                    .addLast(
                                            Http2FrameCodecBuilder.forClient().build(),
                                            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                        } else {
                            made.pipeline().addLast(new HttpClientCodec());
                            listenOn(made);
                        }
                        made.pipeline().addLast(new Watching());
                    }
                })
                .connect(balancer)
                .addListener((ChannelFuture connect) -> onConnect(connect));
    }

    private void listenOn(Channel answers) {
        answers.pipeline().addLast(new HttpObjectAggregator(MAX_ANSWER_BYTES), new Listening());
    }

    private void onConnect(ChannelFuture connect) {
        connecting = false;
        if (!connect.isSuccess()) {
            totals.failed();
            comeBackLater();
            return;
        }
        totals.connected();
        channel = connect.channel();
        answered = false;
        toldToGo = false;
        requestsLeft = habit == Habit.ROAMS
                ? random.nextInt(LEAST_REQUESTS, MOST_REQUESTS)
                : Integer.MAX_VALUE - random.nextInt(REQUESTS_BETWEEN_PAUSES); // not all pause at once
        ask(channel);
    }

    private void ask(Channel on) {
        if (channel != on || !on.isActive()) {
            return;
        }
        if (stopped || requestsLeft == 0) {
            on.close();
            return;
        }
        requestsLeft--;
        asking = true;
        askedNanos = System.nanoTime();
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
        request.headers().set(HttpHeaderNames.HOST, "demo.invalid");
        if (habit == Habit.STICKS) {
            request.headers().set(HttpConversionUtil.ExtensionHeaderNames.SCHEME.text(), "http");
            askOnStream(on, request);
        } else {
            on.writeAndFlush(request);
        }
    }

    private void askOnStream(Channel on, FullHttpRequest request) {
        new Http2StreamChannelBootstrap(on)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(false));
                        listenOn(stream);
                        stream.closeFuture().addListener(closed -> onStreamClosed(on));
                    }
                })
                .open()
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (opened.isSuccess()) {
                        opened.getNow().writeAndFlush(request);
                    } else {
                        request.release();
                        onStreamClosed(on);
                    }
                });
    }

    /** Without an answer on it: the request failed. */
    private void onStreamClosed(Channel on) {
        if (asking && channel == on) {
            asking = false;
            totals.failed();
            askAgain(on);
        }
    }

    private void askAgain(Channel on) {
        if (toldToGo) {
            moveOn();
        } else {
            later(() -> ask(on), ASK_EVERY_MILLIS * 3 / 4, ASK_EVERY_MILLIS * 5 / 4);
        }
    }

    /** The balancer closes the old connection, now that nothing is open on it. */
    private void moveOn() {
        channel = null;
        comeBackLater();
    }

    private void onGoaway(Channel on) {
        if (channel == on && !toldToGo) {
            toldToGo = true;
            totals.toldToGo();
            if (!asking) {
                moveOn();
            }
        }
    }

    private void onAnswer(FullHttpResponse answer) {
        asking = false;
        answered = true;
        if (answer.status().equals(HttpResponseStatus.OK)) {
            totals.answered(System.nanoTime() - askedNanos);
        } else {
            totals.failed();
        }
        Channel on = channel;
        if (stopped || !HttpUtil.isKeepAlive(answer)) {
            on.close();
        } else if (habit == Habit.READS && requestsLeft % REQUESTS_BETWEEN_PAUSES == 0) {
            later(() -> ask(on), SHORTEST_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS);
        } else {
            askAgain(on);
        }
    }

    private void onClosed(Channel closed) {
        if (channel != closed) {
            return; // it has gone on by another already
        }
        channel = null;
        if (asking) {
            asking = false;
            totals.failed();
        }
        comeBackLater();
    }

    private void comeBackLater() {
        if (stopped) {
            noteIfGone();
        } else if (habit == Habit.STICKS && !held) {
            connect();
        } else {
            later(this::connect, SHORTEST_ABSENCE_MILLIS, LONGEST_ABSENCE_MILLIS);
        }
    }

    /** Hears answers: on the connection, or on a stream of it. */
    private final class Listening extends SimpleChannelInboundHandler<FullHttpResponse> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse answer) {
            onAnswer(answer);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // A reset, most likely; the close that follows counts what it cost.
            ctx.close();
        }
    }

    /** Sees what becomes of the connection. */
    private final class Watching extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2GoAwayFrame) {
                onGoaway(ctx.channel());
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            onClosed(ctx.channel());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // as above
        }
    }
}
