package dev.tidegate.simulation;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.RuntimeState;
import dev.tidegate.control.Threads;
import dev.tidegate.health.HealthChecker;
import dev.tidegate.health.HealthListener;
import dev.tidegate.listener.InheritedSockets;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.RetireHow;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The whole balancer for some seconds of virtual time: the real listeners, pickers, dials, relays, lifetimes, checks, ejections,
 * drains and reloads, between clients and endpoints that exist in memory. One seed draws everything: who comes when and how long
 * it stays, what fails, what the operator does, which loop turns first. One thread runs all of it.
 *
 * <p>The idea is that of deterministic simulation testing as FoundationDB (Will Wilson, Strange Loop 2014) and TigerBeetle have
 * it. What must hold at any time is checked after each step; the first thing that does not hold ends the run with an
 * {@link AssertionError}.
 */
final class Simulation implements AutoCloseable {
    private static final InetSocketAddress FRONT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7_000);
    private static final int FIRST_ENDPOINT_PORT = 9_001;
    private static final int MOST_ENDPOINTS = 6;
    private static final int MOST_TURNS = 10_000;

    private static final long RUN_NANOS = TimeUnit.SECONDS.toNanos(6);
    private static final Duration SHUTDOWN = Duration.ofSeconds(3);
    /** What a stop may take beyond its deadline, for clients that still read. */
    private static final long STOP_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2_600);
    /** Late by so much is in time: ticks of the wheel, and those of control. */
    private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Operations are looked at this often. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Duration LINGER = Duration.ofMillis(500);
    private static final WriteContext OPERATOR = new WriteContext("simulation", OptionalLong.empty(), false);

    private final long seed;
    private final SplittableRandom random;
    private final SimNetwork network;
    private final List<SimLoop> loops = new ArrayList<>();
    private final List<SimEndpoint> endpoints = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();
    private final Map<InetSocketAddress, AccessRecord> records = new HashMap<>();
    private final List<String> done = new ArrayList<>(); // what the operator and fate did, for who looks for the cause
    private final Settings settings;
    private final Proxy proxy;
    private int configured; // endpoints, from the first on
    private long nextLookNanos;
    private int unanswered;
    private long events;
    private long trace = 1;

    /** What is drawn once for a run. */
    private record Settings(
            String balance,
            int workers,
            int maxConnections,
            int endpointMax,
            Duration maxAge,
            int jitterPercent,
            Duration grace,
            int maxRequests,
            String protocol,
            boolean outlier,
            boolean breaker,
            boolean slowStart,
            String onDown,
            int panicPercent,
            int clients) {
        static Settings draw(SplittableRandom random) {
            return new Settings(
                    List.of("round-robin", "random", "least-connections", "power-of-two")
                            .get(random.nextInt(4)),
                    1 + random.nextInt(3),
                    20 + random.nextInt(60),
                    random.nextInt(3) == 0 ? 3 + random.nextInt(10) : 1_000,
                    Duration.ofMillis(1_500 + random.nextInt(3_000)),
                    random.nextInt(101),
                    Duration.ofMillis(1_000 + random.nextInt(2_000)),
                    random.nextInt(3) == 0 ? 1 + random.nextInt(6) : 1_000_000,
                    random.nextBoolean() ? "tcp" : "auto",
                    random.nextBoolean(),
                    random.nextBoolean(),
                    random.nextBoolean(),
                    List.of("keep", "drain", "cut").get(random.nextInt(3)),
                    random.nextBoolean() ? 0 : 50,
                    40 + random.nextInt(80));
        }
    }

    /** Prepares a run; {@link #run} runs it. */
    Simulation(long seed) throws IOException {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        this.network = new SimNetwork(random.split());
        this.settings = Settings.draw(random);
        for (int i = 0; i < MOST_ENDPOINTS; i++) {
            SimEndpoint endpoint = new SimEndpoint(
                    network,
                    random.split(),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), FIRST_ENDPOINT_PORT + i));
            endpoints.add(endpoint);
            network.add(endpoint);
        }
        configured = 2 + random.nextInt(MOST_ENDPOINTS - 1);
        InstantSource clock = () -> Instant.EPOCH.plusNanos(network.now());
        proxy = Proxy.prepare(
                config(1),
                new Proxy.Parts(
                        new SimTransport(network, this::checkDial),
                        settings.workers,
                        settings.maxConnections,
                        network::now,
                        seed,
                        new FloodLog(network::now),
                        this::onRecord,
                        DnsServerAddressStreamProviders.platformDefault(),
                        clock,
                        RuntimeState.EMPTY,
                        state -> CompletableFuture.completedFuture(Optional.empty()),
                        InheritedSockets.NONE,
                        new OneThread(clock)));
    }

    /** All of it on the thread of the simulation. */
    private final class OneThread implements Threads {
        private final InstantSource clock;

        OneThread(InstantSource clock) {
            this.clock = clock;
        }

        @Override
        public ScheduledExecutorService control() {
            return loop("control", SimLoop.NO_IO);
        }

        @Override
        public IoEventLoop worker(int index, IoHandlerFactory handlers) {
            return loop("worker " + index, handlers);
        }

        @Override
        public HealthChecker checker(HealthChecker.Settings with, HealthListener listener) {
            HealthChecker.Io io = new HealthChecker.Io(SimLoop.NO_IO, () -> new SimSocket(network));
            return new HealthChecker(
                    new HealthChecker.Settings(with.nanoTime(), clock, with.random(), io),
                    listener,
                    loop("checks", SimLoop.NO_IO));
        }

        /** They have nothing left to do, or the checks after the run find it. */
        @Override
        public int end(List<EventLoop> workers, long lastCompletionsMillis) {
            return 0;
        }

        private SimLoop loop(String name, IoHandlerFactory io) {
            SimLoop loop = new SimLoop(name, io, network.time());
            loops.add(loop);
            return loop;
        }
    }

    // ---- the run

    /**
     * Runs to the end.
     *
     * @return a number that two runs of a seed agree in
     * @throws AssertionError when something does not hold that must
     */
    long run() throws IOException {
        try {
            proxy.listen();
            schedule();
            turnUntil(RUN_NANOS);
            stop();
            return trace;
        } catch (AssertionError failed) {
            throw new AssertionError(
                    failed.getMessage() + "\nseed " + seed + " " + network + ", " + settings + "\n"
                            + String.join("\n", done) + "\nreplay: mvn -B verify -pl l4-proxy -am -Dtest=SimulationTest"
                            + " -Dsimulation.seed=" + seed,
                    failed);
        }
    }

    private void schedule() {
        for (int i = 0; i < settings.clients; i++) {
            SimClient client = new SimClient(network, random.split(), i);
            clients.add(client);
            network.in(random.nextLong(RUN_NANOS), () -> network.connect(client, FRONT));
        }
        int deeds = random.nextInt(20);
        for (int i = 0; i < deeds; i++) {
            network.in(random.nextLong(RUN_NANOS), random.nextBoolean() ? this::operate : this::strike);
        }
    }

    private void turnUntil(long nanos) {
        while (true) {
            turn();
            long next = network.nextEvent();
            for (SimLoop loop : loops) {
                long timer = loop.isShuttingDown() ? -1 : loop.nanosToNextTimer();
                if (timer >= 0) {
                    next = Math.min(next, network.now() + Math.max(1, timer));
                }
            }
            if (next > nanos) {
                network.advanceTo(nanos);
                turn();
                return;
            }
            network.advanceTo(next);
        }
    }

    /** Turns all loops until none has anything to do. */
    private void turn() {
        for (int turns = 0; ; turns++) {
            int first = random.nextInt(loops.size());
            int tasks = 0;
            for (int i = 0; i < loops.size(); i++) {
                SimLoop loop = loops.get((first + i) % loops.size());
                // One that ends has nothing left to do, and Netty would sleep in it, since time stands still.
                tasks += loop.isShuttingDown() ? 0 : loop.runNow();
            }
            events += tasks;
            if (tasks == 0) {
                break;
            }
            check(turns < MOST_TURNS, "something spins");
        }
        checkCounts();
    }

    private void stop() {
        proxy.stopGracefully();
        note("stop");
        long deadline = network.now() + SHUTDOWN.toNanos();
        turnUntil(deadline + STOP_MARGIN_NANOS);
        check(proxy.stopped().isDone(), "the stop has not come to its end");
        turnUntil(network.now() + TimeUnit.SECONDS.toNanos(3)); // the checks end politely, and clients hear of it
        checkEnd();
    }

    // ---- what happens

    private void operate() {
        Target.OfEndpoint one = new Target.OfEndpoint("back", "e" + random.nextInt(configured));
        Target target =
                switch (random.nextInt(4)) {
                    case 0 -> new Target.OfBackend("back");
                    default -> one;
                };
        switch (random.nextInt(9)) {
            case 0, 1 ->
                execute(new Command.Drain(
                        target,
                        random.nextBoolean()
                                ? Optional.of(Duration.ofMillis(1_000 + random.nextInt(3_000)))
                                : Optional.empty(),
                        Optional.of(Duration.ofMillis(random.nextInt(1_000))),
                        Optional.of(DrainMode.GRACEFUL)));
            case 2, 3 -> execute(new Command.Undrain(target));
            case 4 -> execute(random.nextBoolean() ? new Command.Disable(one) : new Command.Enable(one));
            case 5 -> execute(new Command.SetWeight(one, random.nextInt(4)));
            case 6 -> execute(new Command.Rebalance("back", Optional.of(Duration.ofMillis(500))));
            case 7 ->
                execute(
                        random.nextBoolean()
                                ? new Command.RemoveEndpoint(one, RemovePolicy.values()[random.nextInt(3)])
                                : new Command.AddEndpoint(
                                        "back",
                                        "e" + (MOST_ENDPOINTS - 1),
                                        "127.0.0.1:" + (FIRST_ENDPOINT_PORT + MOST_ENDPOINTS - 1),
                                        OptionalInt.of(1 + random.nextInt(3)),
                                        OptionalInt.of(settings.endpointMax)));
            default -> reload();
        }
    }

    private void execute(Command command) {
        note(command.toString());
        proxy.execute(command, OPERATOR).whenComplete((outcome, fault) -> {
            note("  " + outcome);
            check(fault == null, "a command failed by a fault of its own: " + fault);
        });
    }

    private void reload() {
        configured = 1 + random.nextInt(MOST_ENDPOINTS);
        note("reload with " + configured + " endpoints");
        proxy.reload(config(1 + random.nextInt(3))).thenAccept(result -> note("  " + result.result()));
    }

    private void strike() {
        SimEndpoint.Mood[] moods = SimEndpoint.Mood.values();
        SimEndpoint endpoint = endpoints.get(random.nextInt(endpoints.size()));
        endpoint.become(random.nextInt(3) == 0 ? SimEndpoint.Mood.WELL : moods[random.nextInt(moods.length)]);
        note("endpoint " + endpoint);
    }

    private void note(String what) {
        done.add("%6d ms %s".formatted(TimeUnit.NANOSECONDS.toMillis(network.now()), what));
    }

    private Config config(int weightOfFirst) {
        StringBuilder text = new StringBuilder();
        text.append("process: {shutdown: {deadline: 3s, spread: 500ms}}\n")
                .append("frontends:\n  - {name: front, listen: \"127.0.0.1:7000\", backend: back, protocol: ")
                .append(settings.protocol)
                .append(", lifetime: {max-age: ")
                .append(settings.maxAge.toMillis())
                .append("ms, jitter: ")
                .append(settings.jitterPercent)
                .append("%, grace: ")
                .append(settings.grace.toMillis())
                .append("ms, max-requests: ")
                .append(settings.maxRequests)
                .append(", quiet: 250ms, linger: ")
                .append(LINGER.toMillis())
                .append("ms}}\n")
                .append("backends:\n  - name: back\n    balance: ")
                .append(settings.balance)
                .append("\n    connect: {timeout: 100ms, attempts: 3, deadline: 500ms}\n")
                .append(
                        "    health: {type: tcp, interval: 500ms, fast-interval: 100ms, timeout: 200ms, fall: 2, on-down: ")
                .append(settings.onDown)
                .append("}\n    panic: {threshold: ")
                .append(settings.panicPercent)
                .append("%}\n    rebalance: {on-join: true, spread: 500ms}\n    outlier: ")
                .append(settings.outlier ? "{consecutive-failures: 3, first-byte: 300ms, ejection: 1s}" : "off")
                .append("\n");
        if (settings.breaker) {
            text.append("    breaker: {consecutive-failures: 4, open: 1s, trials: 1}\n");
        }
        if (settings.slowStart) {
            text.append("    slow-start: {window: 2s}\n");
        }
        text.append("    endpoints:\n");
        for (int i = 0; i < configured; i++) {
            text.append("      - {name: e")
                    .append(i)
                    .append(", address: \"127.0.0.1:")
                    .append(FIRST_ENDPOINT_PORT + i)
                    .append("\", weight: ")
                    .append(i == 0 ? weightOfFirst : 1)
                    .append(", max-connections: ")
                    .append(settings.endpointMax)
                    .append("}\n");
        }
        ConfigResult read = ConfigReader.readText(
                "simulation.yaml", text.toString().getBytes(StandardCharsets.UTF_8), name -> null);
        check(read.config().isPresent(), "the configuration is not valid: " + read.problems() + "\n" + text);
        return read.config().orElseThrow();
    }

    // ---- what must hold

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    /** An attempt is about to be made: its endpoint was picked and counted in the same turn. */
    private void checkDial(InetSocketAddress address) {
        Backend backend = proxy.snapshot().backends().get(0);
        Endpoint picked = null;
        boolean another = false;
        for (int i = 0; i < backend.endpoints().size(); i++) {
            Endpoint each = backend.endpoints().at(i);
            if (each.cell().addresses().contains(address)) {
                picked = each;
            } else {
                another |= backend.endpoints().candidate(i);
            }
        }
        check(picked != null, "dials " + address + ", which is in no snapshot");
        check(picked.cell().open(), "dials " + picked + ", which takes no connections");
        boolean fit = picked.cell().fitness().fit() || backend.endpoints().spreading();
        check(fit || !another, "dials " + picked + ", which is not fit, while another is");
        check(
                picked.cell().inFlight() <= settings.endpointMax,
                picked + " has more than its limit of " + settings.endpointMax);
    }

    private void checkCounts() {
        int active = proxy.connections().active();
        if (active < 0 || active > settings.maxConnections) {
            throw new AssertionError(active + " connections are counted");
        }
        int inFlight = 0;
        for (Endpoint endpoint : proxy.snapshot().backends().get(0).endpoints().all()) {
            int count = endpoint.cell().inFlight();
            if (count < 0 || count > settings.endpointMax) {
                throw new AssertionError(endpoint + " has " + count + " in flight");
            }
            inFlight += count;
        }
        if (inFlight > active) {
            throw new AssertionError(inFlight + " in flight, and " + active + " connections");
        }
        if (network.now() >= nextLookNanos) {
            nextLookNanos = network.now() + LOOK_NANOS;
            proxy.operations().thenAccept(all -> all.forEach(this::checkOperation));
        }
    }

    private void checkOperation(OperationView operation) {
        if (operation.state().equals("running") && operation.deadline() != null) {
            long late = network.now()
                    - Duration.between(Instant.EPOCH, operation.deadline()).toNanos();
            // Retired quietly just before it, a connection may still wait for its client to read its last bytes.
            check(late <= SLACK_NANOS + LINGER.toNanos(), operation + " has outlived its deadline");
        }
    }

    /** A connection is over. */
    private void onRecord(AccessRecord record) {
        trace = 31 * trace + record.durationNanos;
        trace = 31 * trace + record.reason.ordinal();
        trace = 31 * trace + record.bytesSent;
        check(record.reason != null, "a connection has ended without a reason");
        AccessRecord other = records.put((InetSocketAddress) record.client, record);
        check(other == null, "the connection of " + record.client + " has ended twice");
        check(
                !record.cutMidExchange || record.how == null || record.how == RetireHow.CUT,
                text(record) + " was retired in the middle of an exchange");
        long most = nanos(settings.maxAge, 100 + settings.jitterPercent)
                + settings.grace.toNanos()
                + LINGER.toNanos()
                + SLACK_NANOS;
        check(record.durationNanos <= most, text(record) + " has outlived its hard limit");
        if (record.reason == CloseReason.MAX_AGE) {
            long least = nanos(settings.maxAge, 100 - settings.jitterPercent);
            check(record.durationNanos >= least - SLACK_NANOS, text(record) + " ended before its soft limit");
        }
        check(record.reason != CloseReason.INTERNAL_ERROR, text(record) + " ended by a fault of our own");
    }

    private static long nanos(Duration whole, int percent) {
        return whole.toNanos() / 100 * percent;
    }

    private void checkEnd() {
        check(network.openSockets() == 0, network.openSockets() + " sockets are open after the stop");
        check(proxy.connections().active() == 0, proxy.connections().active() + " connections after the stop");
        for (SimClient client : clients) {
            check(client.fault().isEmpty(), client + ": " + client.fault());
            if (client.from() == null) {
                continue;
            }
            AccessRecord record = records.get(client.from());
            boolean retired = record != null && record.how != null && record.how != RetireHow.CUT;
            if (retired && client.fate() == SimClient.Fate.TRUNCATED) {
                check(!wasWell(record), client + " was harmed by a graceful end: " + text(record));
            }
            if (retired && client.fate() == SimClient.Fate.UNANSWERED && wasWell(record)) {
                unanswered++;
            }
            if (retired && client.fate() == SimClient.Fate.RESET) {
                check(!wasWell(record), client + " was reset by a graceful end: " + text(record));
            }
        }
    }

    private boolean wasWell(AccessRecord record) {
        return endpoints.stream()
                .filter(each -> each.address().equals(record.endpointAddress))
                .anyMatch(each -> each.wellSince(0));
    }

    private static String text(AccessRecord record) {
        return "the connection of " + record.client + " to " + record.endpoint + " after "
                + TimeUnit.NANOSECONDS.toMillis(record.durationNanos) + " ms (" + record.reason + ", how " + record.how
                + ", requests " + record.requests + ", received " + record.bytesReceived + ", sent " + record.bytesSent
                + ")";
    }

    /** Tasks that loops have run. */
    long events() {
        return events;
    }

    /** How many connections came to their end. */
    int ended() {
        return records.size();
    }

    /**
     * How many of them were retired while a request was on its way to an endpoint that is well. Near a hard limit some are, as
     * the silence that is asked for shrinks with the time that is left, and limits here are not much longer than answers take.
     */
    int unanswered() {
        return unanswered;
    }

    /** How many of them in that way. */
    long ended(RetireHow how) {
        return records.values().stream().filter(record -> record.how == how).count();
    }

    @Override
    public void close() {
        if (!proxy.stopped().isDone()) {
            proxy.stopNow();
            loops.forEach(SimLoop::runNow);
        }
    }
}
