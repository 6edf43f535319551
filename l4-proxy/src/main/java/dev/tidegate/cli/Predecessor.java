package dev.tidegate.cli;

import dev.tidegate.admin.AdminServer;
import dev.tidegate.config.Config;
import dev.tidegate.config.ProcessConfig;
import dev.tidegate.control.Proxy;
import dev.tidegate.handover.TakeOver;
import dev.tidegate.listener.TransportChoice;
import io.netty.channel.IoHandlerFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process that runs while this one starts, and what this one has from it; or nobody, and what systemd passed.
 *
 * @param inheritance the sockets
 * @param takeOver the conversation with the other; empty when there is none
 * @param process the other; empty when there is none
 */
record Predecessor(Inheritance inheritance, Optional<TakeOver> takeOver, Optional<ProcessHandle> process) {
    private static final Logger log = LoggerFactory.getLogger(Predecessor.class);

    /** So long endpoints may take to be known, before this process takes over without knowing of them. */
    private static final long KNOWN_MILLIS = 10_000;

    /** So long, further, they may take to pass as many checks as it needs to be up: the other one has them up still. */
    private static final Duration WHILE_THE_OTHER_SERVES = Duration.ofSeconds(60);

    /** Whom nobody can serve by then is reset, as at any other time: he waits in a queue that nobody else serves. */
    private static final Duration ALONE = Duration.ofSeconds(2);

    /**
     * Asks the running process, or the environment.
     *
     * @param made gets what ends the conversation, should the start fail
     * @throws IOException when there is nobody to take over from, or the sockets cannot be had
     */
    static Predecessor of(boolean takeOver, Config config, Map<String, String> environment, Deque<Runnable> made)
            throws IOException {
        if (!takeOver) {
            return new Predecessor(
                    Inheritance.fromSystemd(
                            config, environment, ProcessHandle.current().pid()),
                    Optional.empty(),
                    Optional.empty());
        }
        ProcessConfig.Transport transport = config.process().transport();
        if (transport == ProcessConfig.Transport.IO_URING || transport == ProcessConfig.Transport.NIO) {
            throw new IOException("process.transport " + transport.name().toLowerCase(Locale.ROOT)
                    + " takes no sockets over; use auto or epoll, or stop the running process and start without"
                    + " --take-over");
        }
        IoHandlerFactory epoll = TransportChoice.epollHandlers()
                .orElseThrow(() -> new IOException("--take-over needs epoll, which is not available here"));
        Path path = HandOverPath.ofRunning(config.admin(), environment)
                .orElseThrow(() -> new IOException("--take-over does not know where the running process can be asked;"
                        + " set RUNTIME_DIRECTORY, XDG_RUNTIME_DIR or a UNIX socket in admin.listen"));
        TakeOver asked = TakeOver.from(path, epoll);
        made.push(asked::close);
        return new Predecessor(
                Inheritance.handedOver(config, asked.sockets()), Optional.of(asked), ProcessHandle.of(asked.pid()));
    }

    /** Has that run when the other process, if there is one, has gone or will not give way. Any thread may run it. */
    void whenGone(Runnable step) {
        takeOver.ifPresent(other -> {
            var unused = other.gone().thenRun(step);
        });
    }

    /**
     * This process has its sockets, and accepts nobody yet: waits until it may. Where there is another, that one is told, once
     * the endpoints are known, and accepts no more when this returns. Else it is enough that somebody can be served.
     *
     * @param stopped is done when the process is asked to stop
     * @throws AskedToStopException when that was so, and another process serves
     * @throws IOException when the other one does not give way, and goes on; then this one has accepted nobody
     */
    void awaitWay(Proxy proxy, CompletableFuture<Void> stopped) throws IOException {
        if (takeOver.isEmpty()) {
            awaitCandidates(proxy, stopped, ALONE);
            return;
        }
        CompletableFuture<Void> gone = takeOver.get().gone();
        CompletableFuture<Object> enough = CompletableFuture.anyOf(gone, stopped);
        awaitKnown(proxy.endpointsKnown(), enough, KNOWN_MILLIS);
        awaitCandidates(proxy, enough, WHILE_THE_OTHER_SERVES);
        if (stopped.isDone() && !gone.isDone()) {
            throw new AskedToStopException();
        }
        if (takeOver.get().ready()) {
            log.info("taken over sockets={}", takeOver.get().sockets().size());
        } else {
            log.warn("the process before has gone, or does not say that it stopped accepting; this one serves");
            awaitCandidates(proxy, stopped, ALONE);
        }
    }

    private static void awaitCandidates(Proxy proxy, Future<?> enough, Duration patience) {
        List<String> without = new FirstCandidates(
                        proxy::awaitingCandidate, enough::isDone, System::nanoTime, LockSupport::parkNanos)
                .await(patience);
        if (!without.isEmpty()) {
            log.warn("starts though frontends can serve nobody so far: {}", String.join(", ", without));
        }
    }

    /** This one accepts: what the other had is its own from now on. */
    void settle(AdminServer admin) throws IOException {
        if (takeOver.isPresent()) {
            admin.serve();
            admin.inherit();
            takeOver.get().close();
        }
    }

    /**
     * @param known is done when the endpoints are
     * @param enough is done when nobody is to wait any more
     */
    static void awaitKnown(CompletableFuture<Void> known, CompletableFuture<?> enough, long millis) throws IOException {
        try {
            CompletableFuture.anyOf(known, enough).get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            log.warn("takes over though names or first checks of endpoints are not known yet waited_ms={}", millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted before its endpoints were known", e);
        } catch (ExecutionException e) {
            throw new IOException("ended before its endpoints were known; the running process goes on", e);
        }
    }
}
