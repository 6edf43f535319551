package dev.tidegate.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HandCrankedLoopTest {
    @RegisterExtension
    final InvariantsExtension invariants = new InvariantsExtension();

    private enum Io {
        NIO,
        EPOLL,
        IO_URING;

        HandCrankedLoop loop() {
            return switch (this) {
                case NIO -> HandCrankedLoop.nio();
                case EPOLL -> HandCrankedLoop.epoll();
                case IO_URING -> {
                    Requirement.met(IoUring.isAvailable(), "needs io_uring: " + IoUring.unavailabilityCause());
                    yield HandCrankedLoop.ioUring();
                }
            };
        }

        Class<? extends ServerChannel> server() {
            return switch (this) {
                case NIO -> NioServerSocketChannel.class;
                case EPOLL -> EpollServerSocketChannel.class;
                case IO_URING -> IoUringServerSocketChannel.class;
            };
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message, ctx.voidPromise());
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof IdleStateEvent) {
                ctx.close();
            }
        }
    }

    private InetSocketAddress serve(Io io, HandCrankedLoop loop) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop.eventLoop())
                .channel(io.server())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new IdleStateHandler(0, 0, 3600), new Echo());
                    }
                });
        Channel server =
                loop.await(bootstrap.bind(InetAddress.getLoopbackAddress(), 0)).channel();
        return (InetSocketAddress) server.localAddress();
    }

    @ParameterizedTest
    @EnumSource(Io.class)
    void realSocketsMoveOnlyWhenTheLoopIsTurned(Io io) throws Exception {
        HandCrankedLoop loop = invariants.subject(io.loop());
        ScriptedClient client = invariants.peer(ScriptedClient.connect(serve(io, loop)));
        client.send("hello");
        assertEquals(End.Kind.TIMEOUT, client.readToEnd(Duration.ofMillis(30)).kind());
        loop.runUntil(
                "the echo is in the client's queue",
                () -> Sockets.find(client.localAddress(), client.remoteAddress())
                        .map(entry -> entry.receiveQueueBytes() == 5)
                        .orElse(false));
        assertEquals("hello", client.readText(5));
    }

    @ParameterizedTest
    @EnumSource(Io.class)
    void anHourOfIdlenessPassesAtOnce(Io io) throws Exception {
        HandCrankedLoop loop = invariants.subject(io.loop());
        ScriptedClient client = invariants.peer(ScriptedClient.connect(serve(io, loop)));
        loop.runUntil("the idle timer is set", loop::hasTimers);
        loop.advance(Duration.ofMinutes(59));
        assertEquals(End.Kind.TIMEOUT, client.readToEnd(Duration.ofMillis(30)).kind());
        loop.advance(Duration.ofMinutes(1));
        assertEquals(End.Kind.FIN, client.readToEnd().kind());
    }

    @ParameterizedTest
    @EnumSource(Io.class)
    void advanceRunsEachTimerAtItsTimeAndThoseThatTimersSet(Io io) {
        HandCrankedLoop loop = invariants.subject(io.loop());
        List<Long> firedMillis = new ArrayList<>();
        loop.eventLoop()
                .scheduleAtFixedRate(
                        () -> firedMillis.add(
                                TimeUnit.NANOSECONDS.toMillis(loop.ticker().nanoTime())),
                        10,
                        10,
                        TimeUnit.MILLISECONDS);
        loop.advance(Duration.ofMillis(35));
        assertEquals(List.of(10L, 20L, 30L), firedMillis);
        loop.advance(Duration.ofMillis(5));
        assertEquals(List.of(10L, 20L, 30L, 40L), firedMillis);
    }

    @Test
    void runUntilFailsWithinItsBoundAndNamesWhatWasAwaited() {
        HandCrankedLoop loop = invariants.subject(HandCrankedLoop.nio());
        AssertionError late =
                assertThrows(AssertionError.class, () -> loop.runUntil("pigs fly", () -> false, Duration.ofMillis(20)));
        assertTrue(late.getMessage().endsWith("pigs fly"), late.getMessage());
    }

    @Test
    void anAlwaysReadySocketIsCalledASpin() {
        HandCrankedLoop loop = invariants.subject(HandCrankedLoop.over(executor -> new AlwaysReady()));
        AssertionError spin = assertThrows(AssertionError.class, loop::runReady);
        assertTrue(spin.getMessage().endsWith("something spins"), spin.getMessage());
        assertFalse(loop.hasTimers());
    }

    /** Reports one event in each turn. */
    private static final class AlwaysReady implements IoHandler {
        @Override
        public int run(IoHandlerContext context) {
            return 1;
        }

        @Override
        public IoRegistration register(IoHandle handle) {
            throw new UnsupportedOperationException("no channel is registered here");
        }

        @Override
        public void wakeup() {
            // Each turn has work anyway.
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> handleType) {
            return false;
        }
    }
}
