package dev.tidegate.cli;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.Proxy;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Transport;
import dev.tidegate.telemetry.AccessLog;
import dev.tidegate.telemetry.AccessLogFormat;
import dev.tidegate.telemetry.AccessLogTarget;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.QuietThreads;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exercises the data path before anybody is served: a JVM runs what it has not run yet ten times slower, and whoever
 * connects first would pay for that.
 *
 * <p>A second proxy, of the same classes and on the same transport, is put between clients and endpoints of its own on
 * loopback. It reaches nothing that is configured; its counters, events and access log are its own, and nobody sees them; and it
 * is gone with its threads and descriptors when {@link #run} returns. It ends when it gets no faster, or when its time is
 * over. What it cannot do it leaves: a process that could not be warmed serves as one that was not.
 *
 * <p>{@link #run} is for the thread that starts the process, {@link #stop} for any.
 */
final class WarmUp {
    /** More than one, so that connections are handed from worker to worker. */
    private static final int WORKERS_MAX = 2;

    private static final int CONNECTIONS_MAX = 1_000;
    private static final int LOG_CAPACITY = 1_024;
    private static final Path NOWHERE = Path.of("/dev/null");

    /** What a proxy takes to close at most, where a worker is stuck. */
    private static final long CLOSING_MILLIS = 5_000;

    /**
     * What the process has that is to be warmed, and what the proxy that warms it shares with it: calls through an
     * interface stay calls of one class.
     *
     * @param transport does the I/O
     * @param workers how many there are
     * @param ticker monotonic time
     */
    record Like(Transport transport, int workers, Ticker ticker) {}

    private final Optional<Duration> budget;
    private volatile WarmUpLoop loop; // writer: the thread of the warm-up; null while there is none
    private volatile boolean stopped; // writer: whoever stops it
    private volatile int ended; // writer: the thread of the warm-up
    private volatile int retired; // writer: the thread of the warm-up
    private volatile int failed; // writer: the thread of the warm-up
    private volatile Exception failure; // writer: the thread of the warm-up; null while there is none

    /**
     * Not begun yet.
     *
     * @param budget for how long at most; empty is not at all
     */
    WarmUp(Optional<Duration> budget) {
        this.budget = budget;
    }

    /** Ends it as soon as can be, or keeps it from beginning. */
    void stop() {
        stopped = true;
        WarmUpLoop running = loop;
        if (running != null) {
            running.stop();
        }
    }

    /** Whether it is under way. */
    boolean isRunning() {
        return loop != null;
    }

    /** Connections that came to the end that was planned for them. */
    int ended() {
        return ended;
    }

    /** Of them, those that the proxy ended at a limit. */
    int retired() {
        return retired;
    }

    /** Connections that came to another end. */
    int failed() {
        return failed;
    }

    /** Why it could not be done; empty as long as it could. */
    Optional<Exception> failure() {
        return Optional.ofNullable(failure);
    }

    /**
     * Warms up, and returns when nothing of it is left.
     *
     * @param config what the process is going to run
     * @param like what it is going to run on
     */
    void run(Config config, Like like) {
        if (budget.isEmpty() || stopped) {
            return;
        }
        Logger log = LoggerFactory.getLogger(WarmUp.class);
        long begin = like.ticker().nanoTime();
        // Threads that it makes, and those that they make, are of its group: that tells who is to be quiet.
        ThreadGroup group = new ThreadGroup("tidegate-warm-up");
        Thread thread =
                new Thread(group, () -> warm(config, like, begin + budget.get().toNanos()), group.getName());
        thread.setDaemon(true);
        QuietThreads quiet = new QuietThreads(group);
        try {
            thread.start();
            thread.join(budget.get().toMillis() + CLOSING_MILLIS);
        } catch (InterruptedException e) {
            stop();
            Thread.currentThread().interrupt();
        } finally {
            quiet.end();
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(like.ticker().nanoTime() - begin);
        if (thread.isAlive()) {
            log.warn("the warm-up has not come to its end, the process starts beside it took={}ms", millis);
        } else if (failure != null) {
            String why = failure instanceof IOException ? failure.getMessage() : failure.toString();
            log.info("not warmed up, the first connections may be slow: {}", why);
            log.debug("the warm-up failed", failure);
        } else {
            log.debug("warmed up took={}ms connections={} retired={} failed={}", millis, ended, retired, failed);
        }
    }

    private void warm(Config config, Like like, long endNanos) {
        try (WarmUpLoop peers = new WarmUpLoop(like.ticker())) {
            warm(peers, config, like, endNanos);
        } catch (IOException | RuntimeException cannot) {
            failure = cannot;
        } finally {
            loop = null;
        }
    }

    private void warm(WarmUpLoop peers, Config config, Like like, long endNanos) throws IOException {
        FloodLog unheard = new FloodLog(like.ticker()::nanoTime); // never started
        AccessLogFormat format =
                AccessLogFormat.valueOf(config.log().access().format().name());
        try (AccessLog accessLog = AccessLog.open(
                        new AccessLogTarget.File(NOWHERE), format, LOG_CAPACITY, InstantSource.system(), unheard);
                Proxy proxy = Proxy.start(
                        config(config, peers.endpoints()),
                        new Proxy.Parts(
                                like.transport(),
                                Math.min(WORKERS_MAX, like.workers()),
                                CONNECTIONS_MAX,
                                like.ticker(),
                                like.ticker().nanoTime(),
                                unheard,
                                accessLog::offer,
                                DnsServerAddressStreamProviders.platformDefault(),
                                InstantSource.system()))) {
            loop = peers;
            if (!stopped) { // else whoever stopped it did not see the loop
                peers.run(address(proxy, "long"), address(proxy, "short"), endNanos);
            }
            ended = peers.ended();
            retired = peers.retired();
            failed = peers.failures();
        }
    }

    private static InetSocketAddress address(Proxy proxy, String frontend) {
        return proxy.listeners().entrySet().stream()
                .filter(entry -> entry.getKey().frontend().equals(frontend))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
    }

    /** Limits are armed on all connections, and one frontend's come to pass. Policies are those of the first backend. */
    private static Config config(Config real, List<InetSocketAddress> endpoints) {
        BackendConfig backend = real.backends().get(0);
        String balance = backend.balance().name().toLowerCase(Locale.ROOT).replace('_', '-');
        String yaml = """
                log: {access: {path: none}}
                frontends:
                  - {name: long, listen: "127.0.0.1:0", backend: peers, lifetime: {max-age: 1h, max-bytes: 1TiB}}
                  - {name: short, listen: "127.0.0.1:0", backend: peers,
                     lifetime: {max-age: 1h, max-requests: 3, quiet: 10ms, grace: 1s, linger: 10ms}}
                backends:
                  - name: peers
                    balance: %s
                    endpoints: [{name: a, address: "127.0.0.1:%d"}, {name: b, address: "127.0.0.1:%d"}]
                """.formatted(
                        balance, endpoints.get(0).getPort(), endpoints.get(1).getPort());
        ConfigResult result = ConfigReader.readText("warm-up", yaml.getBytes(StandardCharsets.UTF_8), name -> null);
        return result.config()
                .orElseThrow(() -> new IllegalStateException("the warm-up's own configuration: " + result.problems()));
    }
}
