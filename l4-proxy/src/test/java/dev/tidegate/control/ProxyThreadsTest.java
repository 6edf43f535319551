package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.health.HealthChecker;
import dev.tidegate.health.HealthListener;
import dev.tidegate.listener.InheritedSockets;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.FloodLog;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;

class ProxyThreadsTest {
    private static final String CONFIG = """
            frontends:
              - {name: front, listen: "127.0.0.1:0", backend: back}
            backends:
              - name: back
                health: {type: tcp, interval: 1h}
                endpoints:
                  - address: "127.0.0.1:1"
            """;

    /** By whom what carries checks out was made. */
    private final List<String> makers = new CopyOnWriteArrayList<>();

    /**
     * A name server may answer while the first snapshot is still being put in force, and control then follows the addresses.
     * With two threads at it, checks were begun twice, and the first of them never ended.
     */
    @Test
    void whatTheFirstSnapshotBeginsIsBegunByControl() throws Exception {
        try (Proxy proxy = Proxy.start(config(), parts())) {
            assertEquals(Proxy.Phase.RUNNING, proxy.phase());
        }

        assertEquals(1, makers.size());
        assertEquals("tidegate-control", makers.get(0).replaceAll("-[0-9]+-[0-9]+$", ""));
    }

    private static Config config() {
        ConfigResult read = ConfigReader.readText("test.yaml", CONFIG.getBytes(StandardCharsets.UTF_8), name -> null);
        return read.config().orElseThrow(() -> new AssertionError(read.problems()));
    }

    private Proxy.Parts parts() throws TransportChoice.UnavailableException {
        return new Proxy.Parts(
                TransportChoice.choose(TransportChoice.Wish.NIO).transport(),
                1,
                100,
                System::nanoTime,
                42,
                new FloodLog(System::nanoTime),
                connection -> {},
                DnsServerAddressStreamProviders.platformDefault(),
                InstantSource.system(),
                RuntimeState.EMPTY,
                state -> CompletableFuture.completedFuture(Optional.empty()),
                InheritedSockets.NONE,
                new Watched());
    }

    /** A proxy's own threads, with a look at who makes them. */
    private final class Watched implements Threads {
        @Override
        public ScheduledExecutorService control() {
            return OWN.control();
        }

        @Override
        public IoEventLoop worker(int index, IoHandlerFactory handlers) {
            return OWN.worker(index, handlers);
        }

        @Override
        public HealthChecker checker(HealthChecker.Settings settings, HealthListener listener) {
            makers.add(Thread.currentThread().getName());
            return OWN.checker(settings, listener);
        }

        @Override
        public int end(List<EventLoop> workers, long lastCompletionsMillis) {
            return OWN.end(workers, lastCompletionsMillis);
        }
    }
}
