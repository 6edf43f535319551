package dev.tidegate.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admission.Admission;
import dev.tidegate.admission.ConnectionLimit;
import dev.tidegate.balance.Pickers;
import dev.tidegate.dial.Dialer;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.RetireOrder;
import dev.tidegate.model.Retries;
import dev.tidegate.model.Timeouts;
import dev.tidegate.relay.FlowHandler;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.testkit.HandCrankedLoop;
import dev.tidegate.worker.Worker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGeneratorFactory;

/** A connection that has begun to dial, and all that it needs. */
final class ConnectionBench implements AutoCloseable {
    static final long SECOND = 1_000_000_000L;
    static final InetSocketAddress CLIENT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1234);
    static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
    static final InetSocketAddress TARGET = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7001);

    final RetireOrder order = RetireOrder.everywhere(CloseReason.SHUTDOWN);
    final HandCrankedLoop crank = HandCrankedLoop.over(LocalIoHandler.newFactory());
    final Worker worker = new Worker(
            0,
            crank.ticker()::nanoTime,
            RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(3),
            LocalIoHandler.newFactory(),
            unused -> crank.eventLoop());
    final EndpointCell cell = new EndpointCell("back", "e", 0, List.of(TARGET));
    final List<String> watched = new ArrayList<>();
    long firstByteNanos = EndpointWatch.ANY_TIME;
    final Frontend frontend = frontend();
    final NoKernel kernel = new NoKernel();
    final ConnectionLimit limit = new ConnectionLimit(1);
    final Admission admission = new Admission(limit);
    final FloodLog floods = new FloodLog(crank.ticker()::nanoTime);
    final List<AccessRecord> records = new ArrayList<>();
    final Wire client = new Wire(true);
    Wire endpoint;
    FlowHandler clientHandler;
    FlowHandler endpointHandler;
    Connection connection;

    ConnectionBench() {
        assertEquals(Admission.Verdict.ADMITTED, admission.admit(frontend));
        assertTrue(worker.tryAddLoad(0));
        Dialer dialer = new Dialer(
                crank.eventLoop(),
                worker.deadlines(),
                worker::nowNanos,
                worker.random(),
                worker.counters(),
                this::openEndpoint);
        ConnectionContext context = new ConnectionContext(worker, dialer, kernel, admission, floods, records::add);
        connection = new Connection(context, client, frontend, "127.0.0.1:80", 1);
        connection.start();
        clientHandler = client.pipeline().get(FlowHandler.class);
    }

    @Override
    public void close() {
        client.close();
        endpoint.close();
        crank.close();
        floods.close();
    }

    void clientSays(String text) {
        clientHandler.channelRead(null, Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    void endpointSays(String text) {
        endpointHandler.channelRead(null, Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    List<String> failures() {
        return watched.stream()
                .filter(word -> !word.equals("connected") && !word.equals("answered"))
                .toList();
    }

    String outcome() {
        return client + ", " + endpoint + ", "
                + (records.isEmpty() ? "lives" : records.get(0).reason.word());
    }

    void assertNothingLeft() {
        assertEquals(1, records.size(), "records");
        assertEquals(0, limit.active(), "admitted");
        assertEquals(0, cell.inFlight(), "in flight");
        assertEquals(0, worker.residents(), "residents");
        assertEquals(0, worker.load(), "load");
        assertTrue(worker.deadlines().isEmpty(), "a deadline left");
        assertTrue(!client.isOpen() && !endpoint.isOpen(), "a channel left");
    }

    Channel openEndpoint(InetSocketAddress target, ChannelHandler handler) {
        endpoint = new Wire(false);
        endpointHandler = (FlowHandler) handler;
        endpoint.pipeline().addLast(handler);
        return endpoint;
    }

    EndpointWatch watch() {
        return new EndpointWatch() {
            @Override
            public void onConnected(EndpointCell endpoint) {
                watched.add("connected");
            }

            @Override
            public void onAnswered(EndpointCell endpoint) {
                watched.add("answered");
            }

            @Override
            public void onFailure(EndpointCell endpoint, Failure failure) {
                watched.add(failure.word());
            }

            @Override
            public long firstByteNanos() {
                return firstByteNanos;
            }
        };
    }

    Frontend frontend() {
        Backend backend = new Backend(
                new BackendCell("back", 0),
                BalancePolicy.ROUND_ROBIN,
                Pickers.of(BalancePolicy.ROUND_ROBIN),
                new EndpointList(List.of(new Endpoint("e", 1, 3, cell))),
                new ConnectPolicy(2 * SECOND, 1, 5 * SECOND, ProxyProtocol.OFF),
                Retries.UNBOUNDED,
                watch());
        return new Frontend(
                "front",
                List.of(),
                backend,
                ProtocolChoice.AUTO,
                1,
                new Timeouts(60 * SECOND, 30 * SECOND, 0),
                Lifetime.DEFAULT,
                new FrontendCell("front", 0));
    }

    /** A socket's stand-in, on the worker's loop: shows how its peer would see it. */
    static final class Wire extends AbstractChannel implements DuplexChannel {
        private static final ChannelMetadata METADATA = new ChannelMetadata(false);

        final ChannelConfig config = new DefaultChannelConfig(this) {
            @Override
            public <T> boolean setOption(ChannelOption<T> option, T value) {
                boolean linger = option.equals(ChannelOption.SO_LINGER);
                lingersZero |= linger && value.equals(0);
                return linger || super.setOption(option, value);
            }
        };

        boolean open = true;
        boolean active;
        boolean blocked;
        boolean refuses;
        boolean lingersZero;
        boolean outputShut;
        long bytesSent;
        ChannelPromise connect;

        Wire(boolean active) {
            super(null);
            this.active = active;
        }

        void connected() {
            active = open;
            connect.trySuccess();
        }

        void reads() {
            blocked = false;
            unsafe().flush();
        }

        @Override
        protected AbstractUnsafe newUnsafe() {
            return new AbstractUnsafe() {
                @Override
                public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
                    connect = promise;
                }
            };
        }

        @Override
        protected boolean isCompatible(EventLoop loop) {
            return true;
        }

        @Override
        protected SocketAddress localAddress0() {
            return LOCAL;
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return CLIENT;
        }

        @Override
        protected void doBind(SocketAddress address) {}

        @Override
        protected void doDisconnect() {
            doClose();
        }

        @Override
        protected void doClose() {
            open = false;
            active = false;
        }

        @Override
        protected void doBeginRead() {}

        @Override
        protected void doWrite(ChannelOutboundBuffer queue) throws IOException {
            if (refuses) {
                throw new IOException("Broken pipe");
            }
            while (!blocked && queue.current() != null) {
                bytesSent += ((ByteBuf) queue.current()).readableBytes();
                queue.remove();
            }
        }

        @Override
        public ChannelConfig config() {
            return config;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public boolean isActive() {
            return active;
        }

        @Override
        public ChannelMetadata metadata() {
            return METADATA;
        }

        @Override
        public boolean isInputShutdown() {
            return !open;
        }

        @Override
        public ChannelFuture shutdownInput() {
            return shutdownInput(newPromise());
        }

        @Override
        public ChannelFuture shutdownInput(ChannelPromise promise) {
            throw new UnsupportedOperationException("a connection reads to the end");
        }

        @Override
        public boolean isOutputShutdown() {
            return outputShut;
        }

        @Override
        public ChannelFuture shutdownOutput() {
            return shutdownOutput(newPromise());
        }

        @Override
        public ChannelFuture shutdownOutput(ChannelPromise promise) {
            outputShut = true;
            return promise.setSuccess();
        }

        @Override
        public boolean isShutdown() {
            return !open;
        }

        @Override
        public ChannelFuture shutdown() {
            return shutdown(newPromise());
        }

        @Override
        public ChannelFuture shutdown(ChannelPromise promise) {
            throw new UnsupportedOperationException("a connection closes");
        }

        @Override
        public String toString() {
            String words = open ? outputShut ? "fin" : "open" : lingersZero ? "reset" : "closed";
            return bytesSent < 1_000 ? words : words + " " + bytesSent / 1_000 + "k";
        }
    }

    /** No kernel that could know more than the channels. */
    static final class NoKernel implements Sockets {
        long undelivered;

        @Override
        public Channel open(InetSocketAddress target, ChannelHandler handler) {
            throw new UnsupportedOperationException("the dialer opens");
        }

        @Override
        public boolean missesResetWhenHalfClosed() {
            return false;
        }

        @Override
        public boolean missesResetWhenPaused() {
            return false;
        }

        @Override
        public boolean isDead(Channel channel) {
            return false;
        }

        @Override
        public long undelivered(Channel channel) {
            return undelivered;
        }

        @Override
        public void setLateOptions(Channel channel, boolean accepted, int unackedMillis) {}
    }
}
