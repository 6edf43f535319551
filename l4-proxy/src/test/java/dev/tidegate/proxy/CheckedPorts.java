package dev.tidegate.proxy;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.Endpoint;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Sockets;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * What {@link SourcePortsIT} runs in a network namespace of its own: 500 endpoints that are checked once a second, and then
 * connections to them.
 */
final class CheckedPorts {
    private static final int ENDPOINTS = 500;
    private static final int FIRST_PORT = 7_001; // numbers are safe here: nobody else is in this namespace
    private static final Duration BOUND = Duration.ofSeconds(60);

    private CheckedPorts() {}

    /**
     * Arguments: the transport, more keys of {@code health}, for how many checks each endpoint waits before the connections
     * come, and how many of these. Prints how those fared, and how many ports waited because of checks before them.
     */
    public static void main(String[] arguments) throws Exception {
        Wish transport = Wish.valueOf(arguments[0]);
        int checksOfEach = Integer.parseInt(arguments[2]);
        int clients = Integer.parseInt(arguments[3]);
        ProxyFixture.Setup setup = ProxyFixture.on(transport)
                .listen("127.0.0.1:6000")
                .backend("health: {type: tcp, interval: 1s, " + arguments[1] + "}");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        ServerBootstrap server = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new Echo());
        for (int i = 0; i < ENDPOINTS; i++) {
            Channel listening = server.bind(InetAddress.getLoopbackAddress(), FIRST_PORT + i)
                    .syncUninterruptibly()
                    .channel();
            int port = ((InetSocketAddress) listening.localAddress()).getPort();
            setup.endpoint("{name: e" + i + ", address: \"127.0.0.1:" + port + "\"}");
        }
        try (ProxyFixture proxy = setup.start()) {
            Await.until(
                    "checks",
                    BOUND.plusSeconds(2L * checksOfEach),
                    () -> sum(proxy, endpoint -> endpoint.cell().fitness().checksPassed())
                            >= (long) checksOfEach * ENDPOINTS);
            long waits = Sockets.count(
                    Sockets.State.TIME_WAIT,
                    entry -> entry.remote().getPort() >= FIRST_PORT
                            && entry.remote().getPort() < FIRST_PORT + ENDPOINTS);
            int served = 0;
            for (int i = 0; i < clients; i++) {
                served += serves(proxy.address(), i) ? 1 : 0;
            }
            proxy.awaitNoConnections();
            System.out.println("served=" + served + " of=" + proxy.records().size() + " retries="
                    + proxy.records().stream()
                            .mapToInt(record -> record.attempts - 1)
                            .sum()
                    + " checks-failed="
                    + sum(proxy, endpoint -> endpoint.cell().fitness().checksFailed())
                    + " waits=" + waits);
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private static long sum(ProxyFixture proxy, ToLongFunction<Endpoint> what) {
        return proxy.frontend().backend().endpoints().all().stream()
                .mapToLong(what)
                .sum();
    }

    /** The client ends first, so that the balancer does towards the endpoint. */
    private static boolean serves(InetSocketAddress front, int number) throws IOException {
        try (Socket client = new Socket()) {
            // From ports outside the range, and an address of their own: those inside are for the balancer.
            client.bind(new InetSocketAddress(
                    InetAddress.getByAddress(new byte[] {127, 0, 2, (byte) (1 + number % 250)}),
                    20_000 + number / 250));
            client.connect(front, 5_000);
            client.setSoTimeout(5_000);
            client.getOutputStream().write('x');
            boolean answered = client.getInputStream().read() == 'x';
            client.shutdownOutput();
            return answered && client.getInputStream().read() < 0;
        }
    }

    @Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }

        /** Checks may end by a reset. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }
}
