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
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /** So long endpoints may take to be checked once, before this process takes over without knowing of them. */
    private static final long CHECKS_MILLIS = 10_000;

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
        Path path = HandOverPath.of(config.admin(), environment)
                .orElseThrow(() -> new IOException("--take-over does not know where the running process can be asked;"
                        + " set RUNTIME_DIRECTORY, XDG_RUNTIME_DIR or a UNIX socket in admin.listen"));
        TakeOver asked = TakeOver.from(path, epoll);
        made.push(asked::close);
        return new Predecessor(
                Inheritance.handedOver(config, asked.sockets()), Optional.of(asked), ProcessHandle.of(asked.pid()));
    }

    /** This process listens: the other one is told, once the endpoints are known, and stops accepting. */
    void handedOver(Proxy proxy, AdminServer admin) throws IOException {
        if (takeOver.isEmpty()) {
            return;
        }
        awaitFirstChecks(proxy.firstChecks(), CHECKS_MILLIS);
        admin.serve();
        if (takeOver.get().ready()) {
            log.info("taken over sockets={}", takeOver.get().sockets().size());
        } else {
            log.warn("the process before has gone, or does not say that it stopped accepting; this one serves");
        }
        admin.inherit();
        takeOver.get().close();
    }

    static void awaitFirstChecks(Future<Void> checks, long millis) throws IOException {
        try {
            checks.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            log.warn("takes over though the first checks are not over waited_ms={}", millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the first checks were under way", e);
        } catch (ExecutionException e) {
            throw new IOException("ended before its endpoints were checked; the running process goes on", e);
        }
    }
}
