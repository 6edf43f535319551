package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** A loop of its own to run probes on, with connects that add nothing. */
final class ProbeBench implements AutoCloseable {
    static final ProbeContext.Subject SUBJECT = new ProbeContext.Subject("shop", "a", "a.internal:8080");

    private static final long BOUND_SECONDS = 20;

    private final EventLoopGroup group;
    private final EventLoop loop;
    private final Class<? extends SocketChannel> channels;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger turns = new AtomicInteger();
    private final List<String> ownFaults = new CopyOnWriteArrayList<>();

    private ProbeBench(IoHandlerFactory io, Class<? extends SocketChannel> channels) {
        group = new MultiThreadIoEventLoopGroup(1, io);
        loop = group.next();
        this.channels = channels;
    }

    static ProbeBench nio() {
        return new ProbeBench(NioIoHandler.newFactory(), NioSocketChannel.class);
    }

    static ProbeBench epoll() {
        return new ProbeBench(EpollIoHandler.newFactory(), EpollSocketChannel.class);
    }

    ProbeContext context() {
        return new ProbeContext(
                loop,
                (address, handler) -> {
                    open.incrementAndGet();
                    var connect = new Bootstrap()
                            .group(loop)
                            .channel(channels)
                            .handler(handler)
                            .connect(address);
                    connect.channel().closeFuture().addListener(closed -> open.decrementAndGet());
                    return connect;
                },
                SUBJECT,
                new ProbeContext.Watch() {
                    @Override
                    public void onOwnFault(String step, Throwable fault) {
                        ownFaults.add(step + ": " + fault);
                    }

                    @Override
                    public void onTurn() {
                        turns.incrementAndGet();
                    }
                });
    }

    /** What runs said was broken in them. */
    List<String> ownFaults() {
        return List.copyOf(ownFaults);
    }

    /** How often a run said that its turn had come. */
    int turns() {
        return turns.get();
    }

    /** Connections of this side that are not closed. */
    int open() {
        return open.get();
    }

    /** Runs it to its end. */
    Finding run(Probe probe, InetSocketAddress address) {
        return start(probe, address).finding();
    }

    Started start(Probe probe, InetSocketAddress address) {
        CompletableFuture<Finding> told = new CompletableFuture<>();
        AtomicInteger tellings = new AtomicInteger();
        Probe.Run run = onLoop(() -> probe.start(context(), address, finding -> {
            tellings.incrementAndGet();
            told.complete(finding);
        }));
        return new Started(this, run, told, tellings);
    }

    <T> T onLoop(Callable<T> task) {
        return await(loop.submit(task));
    }

    private static <T> T await(java.util.concurrent.Future<T> future) {
        try {
            return future.get(BOUND_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("nothing was told: " + e, e);
        }
    }

    @Override
    public void close() {
        await(group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
    }

    /** A run under way. */
    record Started(ProbeBench bench, Probe.Run run, CompletableFuture<Finding> told, AtomicInteger tellings) {
        Finding finding() {
            return await(told);
        }

        String cancel() {
            return bench.onLoop(run::cancel);
        }
    }
}
