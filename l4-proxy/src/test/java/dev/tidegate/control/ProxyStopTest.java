package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Transport;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.ReloadCounts;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.LeakGuard;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import io.netty.channel.ChannelException;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts that fail leave nothing behind; stops end, whatever goes wrong in them. */
class ProxyStopTest {
    private static final String TOO_MANY = "Too many open files";

    /** The step of a stop that reads the clock for the n-th time fails; the stop was never heard of again. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aStopInWhichAStepFailsStillEnds(int failing) throws Exception {
        LeakGuard.installed().expect("a step of the stop failed.*");
        AtomicInteger calls = new AtomicInteger(Integer.MIN_VALUE);
        Ticker ticker = () -> {
            if (Thread.currentThread().getName().startsWith("tidegate-control") && calls.incrementAndGet() == failing) {
                throw new IllegalStateException("the clock stands still");
            }
            return System.nanoTime();
        };
        try (ScriptedBackend backend = ScriptedBackend.echo();
                Proxy proxy = Proxy.start(config(backend), parts(nio(), ticker, record -> {}));
                ScriptedClient client = connect(proxy)) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            calls.set(0);

            proxy.stopGracefully();

            proxy.stopped().get(20, TimeUnit.SECONDS);
            assertTrue(calls.get() >= failing, "the fault was not met");
            assertEquals(End.Kind.RST, client.readToEnd().kind());
        }
    }

    /** The stop waited for the worker without a bound, and so did INT and a second TERM. */
    @Test
    @Tag("slow")
    void aWorkerThatIsStuckDoesNotHoldUpAStop() throws Exception {
        LeakGuard.installed().expect("listeners are not closed yet.*");
        LeakGuard.installed().expect("workers are stuck in what they do.*");
        LeakGuard.installed().expect("workers did not end.*");
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch stuck = new CountDownLatch(1);
        Consumer<AccessRecord> stall = record -> {
            stuck.countDown();
            awaitUninterruptibly(release);
        };
        try (ScriptedBackend backend = ScriptedBackend.echo();
                Proxy proxy = Proxy.start(config(backend), parts(nio(), System::nanoTime, stall))) {
            connect(proxy).close();
            assertTrue(stuck.await(20, TimeUnit.SECONDS));

            proxy.stopNow();

            proxy.stopped().get(20, TimeUnit.SECONDS);
        } finally {
            release.countDown();
        }
        awaitNoThread("tidegate-worker-");
    }

    @Test
    void whatIsAskedOfAProxyThatHasStoppedIsRefusedAndHarmless() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo()) {
            Config config = config(backend);
            Proxy proxy = Proxy.start(config, parts(nio(), System::nanoTime, record -> {}));
            proxy.close();
            awaitNoThread("tidegate-control");

            proxy.stopGracefully();
            proxy.stopNow();
            proxy.close();

            assertEquals(
                    ReloadCounts.Result.REJECTED,
                    proxy.reload(config).get(20, TimeUnit.SECONDS).result());
        }
    }

    /** A client that has not closed yet when the deadline comes lost what it had not read, though the log said quiet. */
    @Test
    @Tag("slow")
    void aConnectionThatEndedQuietlyBeforeTheDeadlineStillLingersAfterIt() throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo();
                Proxy proxy = Proxy.start(config(backend), parts(nio(), System::nanoTime, record -> {}));
                ScriptedClient client = connect(proxy)) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            long begin = System.nanoTime();

            proxy.stopGracefully();

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            Duration quiet = Duration.ofNanos(System.nanoTime() - begin);
            proxy.stopped().get(20, TimeUnit.SECONDS);
            Duration all = Duration.ofNanos(System.nanoTime() - begin);
            // It keeps its side open: 2 s of linger from its FIN on, not half a second after the deadline.
            assertTrue(
                    all.minus(quiet).compareTo(Duration.ofMillis(1_900)) >= 0,
                    "quiet after " + quiet + ", gone after " + all);
        }
    }

    @ParameterizedTest
    @CsvSource({"ioHandlers, 2", "openListener, 1", "openListener, 2"})
    void aStartWithoutDescriptorsFailsWithPlainWordsAndLeavesNothingBehind(String method, int call) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.echo()) {
            Config config = config(backend);
            Transport transport = failing(nio(), method, call);

            IOException failed = assertThrows(
                    IOException.class, () -> Proxy.start(config, parts(transport, System::nanoTime, record -> {})));

            assertTrue(failed.getMessage().contains(TOO_MANY), failed.getMessage());
            assertFalse(failed.getMessage().contains("Exception"), failed.getMessage());
            awaitNoThread("tidegate-");
        }
    }

    private static Config config(ScriptedBackend backend) {
        String yaml = """
                process: {shutdown: {deadline: 1s, spread: 0s}}
                frontends:
                  - {name: front, listen: ["127.0.0.1:0", "127.0.0.2:0"], backend: back}
                backends:
                  - {name: back, endpoints: [{address: "%s"}]}
                """.formatted(backend.hostPort());
        ConfigResult result = ConfigReader.readText("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), name -> null);
        return result.config()
                .orElseThrow(() -> new AssertionError("the test's configuration is wrong: " + result.problems()));
    }

    private static Proxy.Parts parts(Transport transport, Ticker ticker, Consumer<AccessRecord> accessLog) {
        return new Proxy.Parts(
                transport,
                2,
                100,
                ticker,
                42,
                new FloodLog(System::nanoTime),
                accessLog,
                DnsServerAddressStreamProviders.platformDefault(),
                InstantSource.system());
    }

    private static Transport nio() throws TransportChoice.UnavailableException {
        return TransportChoice.choose(TransportChoice.Wish.NIO).transport();
    }

    /** The transport, without a descriptor left at the n-th call of a method. */
    private static Transport failing(Transport transport, String name, int call) {
        AtomicInteger calls = new AtomicInteger();
        return (Transport) java.lang.reflect.Proxy.newProxyInstance(
                ProxyStopTest.class.getClassLoader(), new Class<?>[] {Transport.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(name) && calls.incrementAndGet() == call) {
                        throw new ChannelException(new IOException(TOO_MANY));
                    }
                    try {
                        return method.invoke(transport, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
    }

    private static ScriptedClient connect(Proxy proxy) throws IOException {
        InetSocketAddress first = proxy.listeningOn().values().iterator().next();
        return ScriptedClient.connect(first);
    }

    private static void awaitNoThread(String prefix) {
        Await.until(
                "no thread " + prefix,
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith(prefix)));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
