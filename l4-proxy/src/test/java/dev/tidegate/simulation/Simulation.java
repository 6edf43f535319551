package dev.tidegate.simulation;

import dev.tidegate.control.Proxy;
import dev.tidegate.control.RuntimeState;
import dev.tidegate.listener.InheritedSockets;
import dev.tidegate.telemetry.FloodLog;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The whole balancer for some seconds of virtual time: the real listeners, pickers, dials, relays, lifetimes, checks, ejections,
 * drains and reloads, between clients and endpoints that exist in memory. One seed draws everything: who comes when and how long
 * it stays, what fails, what the operator does, which loop turns first. One thread runs all of it.
 *
 * <p>The idea is that of deterministic simulation testing as FoundationDB (Will Wilson, Strange Loop 2014) and TigerBeetle have
 * it. What must hold at any time is checked after each step by a {@link Judge}; the first thing that does not hold ends the run
 * with an {@link AssertionError}.
 */
final class Simulation implements AutoCloseable {
    private static final InetSocketAddress FRONT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), Settings.FRONT_PORT);
    private static final int MOST_ENDPOINTS = 6;
    private static final int MOST_DEEDS = 16;
    private static final int MOST_TURNS = 10_000;

    private static final long RUN_NANOS = TimeUnit.MILLISECONDS.toNanos(4_500);
    /** What a stop may take beyond its deadline, for clients that still read. */
    private static final long STOP_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(2_600);
    /** The checks end politely, and clients hear of the end. */
    private static final long AFTERMATH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** So often it is looked whether it has stopped. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final long seed;
    private final SplittableRandom random;
    private final SimNetwork network;
    private final Notes notes;
    private final Settings settings;
    private final List<SimEndpoint> endpoints = new ArrayList<>();
    private final Crowd crowd;
    private final Judge judge;
    private final OneThread threads;
    private final Proxy proxy;
    private final Deeds deeds;
    private long events;

    /** Prepares a run; {@link #run} runs it. */
    Simulation(long seed) throws IOException {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        this.network = new SimNetwork(random.split());
        this.notes = new Notes(network);
        this.settings = Settings.draw(random);
        this.crowd = new Crowd(network, FRONT, random.split());
        for (int i = 0; i < MOST_ENDPOINTS; i++) {
            SimEndpoint endpoint = new SimEndpoint(
                    network,
                    random.split(),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), Settings.FIRST_ENDPOINT_PORT + i),
                    crowd::transcript);
            endpoints.add(endpoint);
            network.add(endpoint);
        }
        int configured = 2 + random.nextInt(MOST_ENDPOINTS - 1);
        InstantSource clock = () -> Instant.EPOCH.plusNanos(network.now());
        this.judge = new Judge(network, settings, endpoints, notes);
        this.threads = new OneThread(network, clock);
        this.proxy = Proxy.prepare(
                settings.config(configured, 1),
                new Proxy.Parts(
                        new SimTransport(network, judge::onDial),
                        settings.workers(),
                        settings.maxConnections(),
                        network::now,
                        seed,
                        new FloodLog(network::now),
                        judge::onRecord,
                        DnsServerAddressStreamProviders.platformDefault(),
                        clock,
                        RuntimeState.EMPTY,
                        state -> CompletableFuture.completedFuture(Optional.empty()),
                        InheritedSockets.NONE,
                        threads));
        judge.watch(proxy);
        this.deeds = new Deeds(proxy, settings, endpoints, configured, random, notes, judge);
    }

    /**
     * Runs to the end.
     *
     * @return what came
     * @throws AssertionError when something does not hold that must
     */
    Judge run() throws IOException {
        try {
            proxy.listen();
            schedule();
            turnUntil(RUN_NANOS);
            stop();
            return judge;
        } catch (AssertionError failed) {
            throw new AssertionError(
                    failed.getMessage() + "\nseed " + seed + " " + network + ", " + settings + "\n" + notes
                            + "\nreplay: mvn -B verify -pl l4-proxy -am -Dtest=SimulationTest -Dsimulation.seed="
                            + seed,
                    failed);
        }
    }

    private void schedule() {
        for (int i = 0; i < settings.clients(); i++) {
            crowd.come(random.nextLong(RUN_NANOS));
        }
        int count = random.nextInt(4) == 0 ? 0 : random.nextInt(MOST_DEEDS);
        for (int i = 0; i < count; i++) {
            network.in(random.nextLong(RUN_NANOS), random.nextBoolean() ? deeds::operate : deeds::strike);
        }
    }

    private void turnUntil(long nanos) {
        while (true) {
            turn();
            long next = network.nextEvent();
            for (SimLoop loop : threads.loops()) {
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
        List<SimLoop> loops = threads.loops();
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
            Judge.check(turns < MOST_TURNS, () -> "something spins");
        }
        judge.onTurned();
    }

    private void stop() {
        proxy.stopGracefully();
        notes.add("stop");
        long latest = network.now() + Settings.SHUTDOWN.toNanos() + STOP_MARGIN_NANOS;
        while (!proxy.stopped().isDone() && network.now() < latest) {
            turnUntil(Math.min(latest, network.now() + LOOK_NANOS));
        }
        Judge.check(proxy.stopped().isDone(), () -> "the stop has not come to its end");
        turnUntil(network.now() + AFTERMATH_NANOS);
        judge.onEnd(crowd.all());
    }

    /** Tasks that loops have run. */
    long events() {
        return events;
    }

    @Override
    public void close() {
        if (!proxy.stopped().isDone()) {
            proxy.stopNow();
            threads.loops().forEach(SimLoop::runNow);
        }
    }
}
