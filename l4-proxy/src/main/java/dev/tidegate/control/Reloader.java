package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.EndpointAddress;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.config.LogConfig;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Listeners;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Snapshot;
import dev.tidegate.telemetry.LogLevels;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.Worker;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Puts another configuration in force: all of it or nothing. What can fail (binding what is new) is done first and beside
 * what runs; then one store makes new connections follow the new snapshot; then listeners that are gone close, and
 * connections of what is gone are retired. Connections on endpoints that stay are not touched.
 *
 * <p>Confined to control's thread.
 */
final class Reloader {
    private static final Logger log = LoggerFactory.getLogger(Reloader.class);

    /** Connections of what a reload took away begin to end within this time, each at a moment of its own. */
    static final Duration SPREAD = Duration.ofSeconds(10);
    /** After this time they are cut. */
    static final Duration DEADLINE = Duration.ofMinutes(5);

    private final InForce inForce;
    private final SnapshotBuilder builder;
    private final Cells cells;
    private final Leaving leaving;
    private final Listeners listeners;
    private final List<Worker> workers;
    private final Ticker ticker;
    private final DnsServerAddressStreamProvider nameServers;
    private NameWatch names; // null while no endpoint has a name

    Reloader(
            InForce inForce,
            Cells cells,
            SnapshotBuilder builder,
            Listeners listeners,
            List<Worker> workers,
            Proxy.Parts parts) {
        this.inForce = inForce;
        this.cells = cells;
        this.builder = builder;
        this.listeners = listeners;
        this.workers = List.copyOf(workers);
        this.leaving = new Leaving(cells, this.workers);
        this.ticker = parts.ticker();
        this.nameServers = parts.nameServers();
    }

    /**
     * Puts the first configuration in force: listens, and watches names.
     *
     * @throws IOException when an address cannot be listened on; nothing is left bound
     */
    void begin() throws IOException {
        Listeners.Change change = listeners.prepare(specs(inForce.config()));
        try {
            watchNames(inForce.config());
        } catch (RuntimeException failed) {
            change.rollback();
            throw failed;
        }
        change.commit();
        names(inForce.config(), inForce.snapshot());
    }

    /** Puts that configuration in force, as far as it needs no restart. */
    ReloadResult reload(Config wanted) {
        Snapshot before = inForce.snapshot();
        ConfigDiff diff = ConfigDiff.between(inForce.config(), wanted, cells);
        for (ConfigDiff.Change change : diff.atRestart()) {
            log.warn("needs a restart, stays as it is: {} from {} to {}", change.path(), change.from(), change.to());
        }
        if (diff.live().isEmpty()) {
            return ReloadResult.unchanged(before.generation(), diff);
        }
        Config next = withoutRestart(inForce.config(), wanted);
        Listeners.Change change;
        try {
            change = listeners.prepare(specs(next));
        } catch (IOException cannot) {
            return ReloadResult.rejected(before.generation(), cannot.getMessage());
        }
        Snapshot built;
        try {
            watchNames(next);
            built = builder.build(before.generation() + 1, next);
        } catch (RuntimeException fault) {
            change.rollback();
            throw fault;
        }
        publish(next, built, change);
        return ReloadResult.applied(built.generation(), diff);
    }

    private void publish(Config next, Snapshot built, Listeners.Change change) {
        Snapshot before = inForce.snapshot();
        LogConfig.Level level = inForce.config().log().level();
        Set<EndpointCell> endpointsBack = leaving.takeBack(built);
        inForce.publish(next, built);
        change.commit();
        names(next, built);
        cells.dropPickersOutside(built);
        if (next.log().level() != level) {
            LogLevels.set(Level.valueOf(next.log().level().name()));
        }
        Set<FrontendCell> frontendsNow = frontends(built);
        Set<FrontendCell> frontendsGone = frontends(before);
        frontendsGone.removeAll(frontendsNow);
        Set<FrontendCell> frontendsBack = new HashSet<>(frontendsNow);
        frontendsBack.removeAll(frontends(before));
        Set<EndpointCell> endpointsGone = leaving.takeAway(built);
        settle(new Moves(endpointsGone, endpointsBack, frontendsGone, frontendsBack, frontendsNow));
    }

    /** What a running process cannot change stays what it is, so that the next diff tells of it again. */
    private static Config withoutRestart(Config now, Config wanted) {
        return new Config(
                now.process().withShutdown(wanted.process().shutdown()),
                now.admin(),
                new LogConfig(wanted.log().level(), now.log().access()),
                wanted.frontends(),
                wanted.backends());
    }

    private static Set<FrontendCell> frontends(Snapshot snapshot) {
        Set<FrontendCell> all = new HashSet<>();
        for (Frontend frontend : snapshot.frontends()) {
            all.add(frontend.cell());
        }
        return all;
    }

    private static List<Listeners.Spec> specs(Config config) {
        List<Listeners.Spec> specs = new ArrayList<>();
        for (FrontendConfig frontend : config.frontends()) {
            int unackedMillis = SnapshotBuilder.timeouts(frontend.timeouts()).unackedMillis();
            for (ListenAddress address : frontend.listen()) {
                if (!(address instanceof ListenAddress.Tcp tcp)) {
                    throw new IllegalArgumentException("frontend \"" + frontend.name() + "\": " + address
                            + " is not a TCP address; the configuration's reader lets none through");
                }
                specs.add(new Listeners.Spec(
                        frontend.name(), new InetSocketAddress(tcp.host(), tcp.port()), tcp.toString(), unackedMillis));
            }
        }
        return specs;
    }

    // ---- names

    private void watchNames(Config config) {
        boolean named = config.backends().stream()
                .anyMatch(backend -> backend.endpoints().stream()
                        .anyMatch(endpoint -> !endpoint.address().literal()));
        if (named && names == null) {
            names = new NameWatch(nameServers);
        }
    }

    /** The snapshot was made of that configuration, so both have the same order. */
    private void names(Config config, Snapshot snapshot) {
        if (names == null) {
            return;
        }
        Map<EndpointCell, EndpointAddress> watched = new LinkedHashMap<>();
        for (int b = 0; b < config.backends().size(); b++) {
            BackendConfig backend = config.backends().get(b);
            for (int e = 0; e < backend.endpoints().size(); e++) {
                EndpointAddress address = backend.endpoints().get(e).address();
                if (!address.literal()) {
                    watched.put(snapshot.backends().get(b).endpoints().at(e).cell(), address);
                }
            }
        }
        names.follow(watched);
    }

    // ---- connections of what is gone

    /** What a reload took away, and what it brought back before all connections had ended. */
    private record Moves(
            Set<EndpointCell> endpointsGone,
            Set<EndpointCell> endpointsBack,
            Set<FrontendCell> frontendsGone,
            Set<FrontendCell> frontendsBack,
            Set<FrontendCell> frontendsNow) {
        boolean isNone() {
            return endpointsGone.isEmpty()
                    && endpointsBack.isEmpty()
                    && frontendsGone.isEmpty()
                    && frontendsBack.isEmpty();
        }
    }

    private void settle(Moves moves) {
        if (moves.isNone()) {
            return;
        }
        long now = ticker.nanoTime();
        for (Worker worker : workers) {
            worker.loop()
                    .execute(() -> worker.forEachResident(resident -> settle(resident, moves, now, worker.random())));
        }
    }

    private static void settle(Resident resident, Moves moves, long now, RandomGenerator random) {
        EndpointCell endpoint = resident.endpoint();
        boolean endpointBack = moves.endpointsBack().contains(endpoint);
        boolean frontendBack = moves.frontendsBack().contains(resident.frontend());
        if (endpointBack) {
            resident.stay(CloseReason.ENDPOINT_REMOVED);
        }
        if (frontendBack) {
            resident.stay(CloseReason.DRAIN);
        }
        boolean endpointGone = moves.endpointsGone().contains(endpoint);
        boolean frontendGone = moves.frontendsGone().contains(resident.frontend());
        // The one that is back may have been the first reason, and the other's removal a further one.
        if (endpointGone || (frontendBack && endpoint != null && endpoint.removed())) {
            retire(resident, CloseReason.ENDPOINT_REMOVED, now, random);
        } else if (frontendGone || (endpointBack && !moves.frontendsNow().contains(resident.frontend()))) {
            retire(resident, CloseReason.DRAIN, now, random);
        }
    }

    private static void retire(Resident resident, CloseReason reason, long now, RandomGenerator random) {
        long start = now + random.nextLong(SPREAD.toNanos());
        long hard = now + DEADLINE.toNanos() - random.nextLong(SPREAD.toNanos());
        resident.retire(reason, start, hard);
    }

    /** Gives back what endpoints that were taken away still hold, as far as nobody is on them. Whether some are left. */
    boolean forgetUnused() {
        return leaving.forgetUnused();
    }

    /** Stops watching names. */
    void close() {
        if (names != null) {
            names.close();
        }
    }
}
