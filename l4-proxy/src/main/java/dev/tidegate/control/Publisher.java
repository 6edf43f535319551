package dev.tidegate.control;

import dev.tidegate.config.Config;
import dev.tidegate.config.EndpointAddress;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.listener.InheritedSocket;
import dev.tidegate.listener.Listeners;
import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.Snapshot;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Puts a configuration, and what operators changed since, in force: all of it or nothing. What can fail (binding what is
 * new) is done first and beside what runs; then one store makes new connections follow the new snapshot; then listeners
 * that are gone close. What becomes of connections is its caller's to say.
 *
 * <p>Confined to control's thread.
 */
final class Publisher {
    private final InForce inForce;
    private final SnapshotBuilder builder;
    private final Cells cells;
    private final Leaving leaving;
    private final Listeners listeners;
    private final DnsServerAddressStreamProvider nameServers;
    private final Events events;
    private final Runnable onNewAddresses;
    private final Health health;
    private volatile NameWatch names; // writer: control; null while no endpoint has a name

    Publisher(
            InForce inForce,
            Cells cells,
            SnapshotBuilder builder,
            Leaving leaving,
            Listeners listeners,
            DnsServerAddressStreamProvider nameServers,
            Events events,
            Runnable onNewAddresses,
            Health health) {
        this.inForce = inForce;
        this.cells = cells;
        this.builder = builder;
        this.leaving = leaving;
        this.listeners = listeners;
        this.nameServers = nameServers;
        this.events = events;
        this.onNewAddresses = onNewAddresses;
        this.health = health;
    }

    /** What a publication took away, and what it brought back before all connections had ended. */
    record Moves(
            Set<EndpointCell> endpointsGone,
            Set<EndpointCell> endpointsBack,
            Set<FrontendCell> frontendsGone,
            Set<FrontendCell> frontendsBack,
            Map<FrontendCell, Lifetime> limitsChanged) {}

    /**
     * Puts the first configuration in force: has its sockets, watches names, and has endpoints checked. Nobody is accepted
     * before {@link #accept}.
     *
     * @throws IOException when an address cannot be listened on; nothing is left bound
     */
    void begin() throws IOException {
        Listeners.Change change = listeners.prepare(specs(inForce.config(), inForce.runtime()));
        try {
            watchNames(inForce.snapshot());
        } catch (RuntimeException failed) {
            change.rollback();
            throw failed;
        }
        inForce.snapshot().backends().forEach(backend -> closeCells(backend, inForce.runtime()));
        health.prepare(inForce.config(), inForce.snapshot());
        change.commit();
        listeners.settleUnused();
        follow(inForce.snapshot());
        health.awaitFirst(names == null ? CompletableFuture.completedFuture(null) : names.askedOnce());
    }

    /** Accepts from now on whoever comes, and who has come since {@link #begin}. */
    void accept() {
        listeners.accept();
    }

    /**
     * Makes it the next generation.
     *
     * @throws IOException when an address cannot be listened on; nothing has changed then
     */
    Moves publish(Config config, RuntimeState runtime) throws IOException {
        Snapshot before = inForce.snapshot();
        Listeners.Change change = listeners.prepare(specs(config, runtime));
        Snapshot built;
        try {
            built = builder.build(before.generation() + 1, config, runtime);
            watchNames(built);
        } catch (RuntimeException fault) {
            change.rollback();
            throw fault;
        }
        Set<EndpointCell> endpointsBack = leaving.takeBack(built);
        built.backends().forEach(backend -> closeCells(backend, runtime));
        health.prepare(config, built);
        inForce.publish(config, runtime, built);
        change.commit();
        follow(built);
        cells.dropPickersOutside(built);
        Set<FrontendCell> gone = frontends(before);
        gone.removeAll(frontends(built));
        Set<FrontendCell> back = frontends(built);
        back.removeAll(frontends(before));
        return new Moves(leaving.takeAway(built), endpointsBack, gone, back, limitsChanged(before, built));
    }

    /** Of one that comes back it is not known which limits its connections have. */
    private static Map<FrontendCell, Lifetime> limitsChanged(Snapshot before, Snapshot after) {
        Map<FrontendCell, Lifetime> changed = new HashMap<>();
        for (Frontend frontend : after.frontends()) {
            Frontend old = before.frontend(frontend.name());
            if (old == null || !old.lifetime().equals(frontend.lifetime())) {
                changed.put(frontend.cell(), frontend.lifetime());
            }
        }
        return changed;
    }

    /** From here on nobody picks those that are to take no new connections, whatever snapshot he follows. */
    private static void closeCells(Backend backend, RuntimeState runtime) {
        boolean allDraining = runtime.drainingBackends().contains(backend.name());
        for (Endpoint endpoint : backend.endpoints().all()) {
            EndpointCell cell = endpoint.cell();
            RuntimeState.Changed changed = runtime.endpoint(new EndpointId(backend.name(), cell.address()));
            cell.close(Closed.DRAINING, allDraining || changed.draining());
            cell.close(Closed.DISABLED, changed.disabled());
            cell.close(Closed.WEIGHTLESS, endpoint.weight() == 0);
        }
    }

    private static Set<FrontendCell> frontends(Snapshot snapshot) {
        Set<FrontendCell> all = new HashSet<>();
        for (Frontend frontend : snapshot.frontends()) {
            all.add(frontend.cell());
        }
        return all;
    }

    /** A drained frontend does not listen. */
    private List<Listeners.Spec> specs(Config config, RuntimeState runtime) throws IOException {
        List<Listeners.Spec> specs = new ArrayList<>();
        for (FrontendConfig frontend : config.frontends()) {
            if (runtime.drainingFrontends().contains(frontend.name())) {
                continue;
            }
            int unackedMillis = SnapshotBuilder.timeouts(frontend.timeouts()).unackedMillis();
            for (ListenAddress address : frontend.listen()) {
                if (address instanceof ListenAddress.Tcp tcp) {
                    specs.add(new Listeners.Spec(
                            frontend.name(),
                            new InetSocketAddress(tcp.host(), tcp.port()),
                            tcp.toString(),
                            unackedMillis));
                } else if (address instanceof ListenAddress.Systemd systemd) {
                    for (InheritedSocket socket : listeners.passed(frontend.name(), systemd.name())) {
                        specs.add(new Listeners.Spec(
                                frontend.name(),
                                socket.tcp().orElseThrow(),
                                systemd.toString(),
                                unackedMillis,
                                Optional.of(socket)));
                    }
                } else {
                    throw new IllegalArgumentException("frontend \"" + frontend.name() + "\": " + address
                            + " is not a TCP address; the configuration's reader lets none through");
                }
            }
        }
        return specs;
    }

    // ---- names

    private void watchNames(Snapshot snapshot) {
        if (names == null && !named(snapshot).isEmpty()) {
            names = new NameWatch(nameServers, this::onRefused, onNewAddresses);
        }
    }

    private void follow(Snapshot snapshot) {
        if (names != null) {
            names.follow(named(snapshot), added(snapshot));
        }
        health.follow(snapshot);
    }

    /** Something is wrong with an endpoint: if it has a name, that is asked for again soon. Any thread. */
    void hurryName(EndpointCell cell) {
        NameWatch watch = names;
        if (watch != null) {
            watch.hurry(cell);
        }
    }

    /** On the thread of the names. */
    private void onRefused(EndpointCell cell, List<String> addresses) {
        String target = "backends/" + cell.backend() + "/endpoints/" + cell.address();
        events.emit(
                "endpoint-addresses-refused",
                target + " was added at run time and has addresses that are none for it: "
                        + String.join(", ", addresses),
                Map.of("target", target, "addresses", addresses));
    }

    private static Set<EndpointCell> added(Snapshot snapshot) {
        Set<EndpointCell> added = new HashSet<>();
        for (Backend backend : snapshot.backends()) {
            for (Endpoint endpoint : backend.endpoints().all()) {
                if (endpoint.origin().added()) {
                    added.add(endpoint.cell());
                }
            }
        }
        return added;
    }

    private static Map<EndpointCell, EndpointAddress> named(Snapshot snapshot) {
        Map<EndpointCell, EndpointAddress> named = new LinkedHashMap<>();
        for (Backend backend : snapshot.backends()) {
            for (Endpoint endpoint : backend.endpoints().all()) {
                EndpointAddress address = EndpointAddress.parse(endpoint.cell().address());
                if (!address.literal()) {
                    named.put(endpoint.cell(), address);
                }
            }
        }
        return named;
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
