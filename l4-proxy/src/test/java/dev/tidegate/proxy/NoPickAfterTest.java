package dev.tidegate.proxy;

import static dev.tidegate.proxy.OperatorFixture.endpoint;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.control.Proxy;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.telemetry.EndpointRow;
import dev.tidegate.telemetry.WorkerCounters;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever takes an endpoint out takes it out from the moment that the call returns, however many are just connecting.
 * cilium/cilium#27096: one that was going away was still picked.
 */
class NoPickAfterTest {
    private static final int CONNECTING_THREADS = 4;
    private static final int SERVED_A_ROUND = 60;
    private static final Duration ROUND_BOUND = Duration.ofSeconds(30);
    private static final int REMOVE = 3;
    private static final long NOT_OUT = 0;

    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong served = new AtomicLong();
    private final AtomicLong servedByA = new AtomicLong();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    /** The number of the round that endpoint a is out for; 0 unless a call that took it out has returned. */
    private volatile long out = NOT_OUT; // writer: the test

    @ParameterizedTest
    @ValueSource(strings = {"round-robin", "random", "least-connections", "power-of-two"})
    @Tag("slow")
    void nobodyWhoConnectsAfterTheCallComesToTheEndpoint(String balance) throws Exception {
        takeOutAndBack(balance, 24);
    }

    @ParameterizedTest
    @ValueSource(strings = {"round-robin", "random", "least-connections", "power-of-two"})
    @Tag("nightly")
    void nobodyWhoConnectsAfterOneOfThousandCallsComesToTheEndpoint(String balance) throws Exception {
        takeOutAndBack(balance, 1_000);
    }

    private void takeOutAndBack(String balance, int rounds) throws Exception {
        try (var a = ReloadFixture.named("a");
                var b = ReloadFixture.named("b");
                var proxy = ProxyFixture.on(Wish.EPOLL)
                        .balance(balance)
                        .workers(2)
                        .endpoint("{name: a, address: \"" + a.hostPort() + "\"}")
                        .endpoint("{name: b, address: \"" + b.hostPort() + "\"}")
                        .start()) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            List<Thread> connecting = start(proxy);
            try {
                for (int round = 1; round <= rounds; round++) {
                    awaitServed("a is picked before round " + round, servedByA, 1);
                    takeOut(operator, round);
                    out = round;
                    // What was counted as in flight before the call returned may come to be counted as a pick after it.
                    long most = proxy.cell(0).inFlight() + picks(proxy.proxy());
                    stayOut(proxy, round, round % 4 == REMOVE ? 0 : most);
                    out = NOT_OUT; // before it is taken back, so that a pick from then on is nobody's fault
                    takeBack(operator, round, a);
                }
            } finally {
                over.set(true);
                for (Thread thread : connecting) {
                    thread.join();
                }
            }
            assertEquals(List.of(), List.copyOf(failures));
        }
    }

    private List<Thread> start(ProxyFixture proxy) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CONNECTING_THREADS; i++) {
            Thread thread = new Thread(() -> connectOnAndOn(proxy), "connecting-" + i);
            threads.add(thread);
            thread.start();
        }
        return threads;
    }

    private void connectOnAndOn(ProxyFixture proxy) {
        while (!over.get() && failures.isEmpty()) {
            long outBefore = out;
            try (ScriptedClient client = proxy.connect()) {
                boolean byA = client.readText(1).equals("a");
                if (byA && outBefore != NOT_OUT && out == outBefore) {
                    failures.add(new AssertionError("a was picked while it was out in round " + outBefore));
                }
                served.getAndIncrement();
                servedByA.addAndGet(byA ? 1 : 0);
            } catch (IOException | RuntimeException | AssertionError e) {
                failures.add(e);
            }
        }
    }

    private static void takeOut(OperatorFixture operator, int round) throws Exception {
        switch (round % 4) {
            case 0 -> operator.drain(endpoint("a"));
            case 1 -> operator.done(new Command.Disable(endpoint("a")));
            case 2 -> operator.done(new Command.SetWeight(endpoint("a"), 0));
            default -> operator.done(new Command.RemoveEndpoint(endpoint("a"), RemovePolicy.KEEP));
        }
    }

    private static void takeBack(OperatorFixture operator, int round, ScriptedBackend a) throws Exception {
        switch (round % 4) {
            case 0 -> operator.undrain(endpoint("a"));
            case 1 -> operator.done(new Command.Enable(endpoint("a")));
            case 2 -> operator.done(new Command.ResetWeight(endpoint("a")));
            default ->
                operator.done(
                        new Command.AddEndpoint("back", "a", a.hostPort(), OptionalInt.empty(), OptionalInt.empty()));
        }
    }

    /** Others are served meanwhile, and the endpoint's picks do not rise. */
    private void stayOut(ProxyFixture proxy, int round, long most) {
        // Once each worker has turned, whatever it was about to count is counted.
        proxy.proxy().armedDeadlines();
        long picks = picks(proxy.proxy());
        assertTrue(picks <= most, () -> "picks in round " + round + ": " + picks + ", at most " + most);
        awaitServed("others are served in round " + round, served, SERVED_A_ROUND);
        proxy.proxy().armedDeadlines();
        assertEquals(picks, picks(proxy.proxy()), "picks in round " + round);
    }

    private void awaitServed(String what, AtomicLong count, int more) {
        long before = count.get();
        Await.until(what, ROUND_BOUND, () -> count.get() >= before + more || !failures.isEmpty());
        assertEquals(List.of(), List.copyOf(failures));
    }

    /** Picks of endpoint a so far; while it is removed, 0. */
    private static long picks(Proxy proxy) {
        return proxy.snapshot().backends().get(0).endpoints().all().stream()
                .filter(endpoint -> endpoint.name().equals("a"))
                .mapToLong(endpoint -> picks(proxy, endpoint.cell().slot()))
                .sum();
    }

    private static long picks(Proxy proxy, int slot) {
        long sum = 0;
        for (WorkerCounters counters : proxy.counters()) {
            EndpointRow row = counters.readEndpoint(slot);
            sum += row == null ? 0 : row.picks;
        }
        return sum;
    }
}
