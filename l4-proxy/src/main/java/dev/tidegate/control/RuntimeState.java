package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.LogConfig;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * What operators have changed at run time, beside the configuration. An endpoint is its backend and address, so it keeps
 * this under another name. Immutable; maps and sets are in the order of their keys.
 *
 * @param endpoints by endpoint, of those that have something changed
 * @param added endpoints that operators added, with what stands for their configuration
 * @param removed endpoints of the file that operators took away
 * @param drainingBackends names of backends that drain as a whole
 * @param drainingFrontends names of frontends that drain
 * @param logLevel the log level that operators set; empty for the configured one
 */
public record RuntimeState(
        Map<EndpointId, Changed> endpoints,
        Map<EndpointId, EndpointConfig> added,
        Set<EndpointId> removed,
        Set<String> drainingBackends,
        Set<String> drainingFrontends,
        Optional<LogLevel> logLevel) {
    /** Nothing changed. */
    public static final RuntimeState EMPTY =
            new RuntimeState(Map.of(), Map.of(), Set.of(), Set.of(), Set.of(), Optional.empty());

    /**
     * Copies the collections, and leaves out endpoints of which nothing is changed.
     *
     * @throws IllegalArgumentException if an added endpoint has another address than it is filed under
     */
    public RuntimeState {
        TreeMap<EndpointId, Changed> changed = new TreeMap<>(endpoints);
        changed.values().removeIf(Changed.NONE::equals);
        endpoints = Collections.unmodifiableMap(changed);
        added = Collections.unmodifiableMap(new TreeMap<>(added));
        removed = Collections.unmodifiableSet(new TreeSet<>(removed));
        drainingBackends = Collections.unmodifiableSet(new TreeSet<>(drainingBackends));
        drainingFrontends = Collections.unmodifiableSet(new TreeSet<>(drainingFrontends));
        added.forEach((id, endpoint) -> {
            if (!id.address().equals(endpoint.address().toString())) {
                throw new IllegalArgumentException("added endpoint " + id + " has the address " + endpoint.address());
            }
        });
    }

    /**
     * What is changed of one endpoint.
     *
     * @param draining whether it drains
     * @param disabled whether it is disabled
     * @param weight the weight that operators set; empty for the configured one
     */
    public record Changed(boolean draining, boolean disabled, Optional<Weight> weight) {
        /** Nothing. */
        public static final Changed NONE = new Changed(false, false, Optional.empty());
    }

    /**
     * A weight set at run time.
     *
     * @param value what it is, 0..1000
     * @param over what the configuration said when it was set
     */
    public record Weight(int value, int over) {
        /**
         * Checks the ranges.
         *
         * @throws IllegalArgumentException if one is out of range
         */
        public Weight {
            requireWeight(value);
            requireWeight(over);
        }

        private static void requireWeight(int weight) {
            if (weight < 0 || weight > 1_000) {
                throw new IllegalArgumentException("weight " + weight + " is out of range (0..1000)");
            }
        }
    }

    /**
     * A log level set at run time.
     *
     * @param value what it is
     * @param over what the configuration said when it was set
     */
    public record LogLevel(LogConfig.Level value, LogConfig.Level over) {}

    /** Whether nothing is changed. */
    public boolean isEmpty() {
        return equals(EMPTY);
    }

    /** What is changed of that endpoint; {@link Changed#NONE} for one that is as configured. */
    public Changed endpoint(EndpointId id) {
        return endpoints.getOrDefault(id, Changed.NONE);
    }

    /**
     * The endpoints that a backend has: the file's without those removed, and those added after them. Weights are the
     * configured ones.
     *
     * @return in the file's order; may be empty
     */
    public List<EndpointConfig> endpoints(BackendConfig file) {
        List<EndpointConfig> all = new ArrayList<>();
        for (EndpointConfig endpoint : file.endpoints()) {
            if (!removed.contains(EndpointId.of(file.name(), endpoint.address()))) {
                all.add(endpoint);
            }
        }
        added.forEach((id, endpoint) -> {
            if (id.backend().equals(file.name())) {
                all.add(endpoint);
            }
        });
        return all;
    }

    // ---- changes

    /** The same, with that endpoint draining or not. */
    public RuntimeState withDraining(EndpointId id, boolean draining) {
        return change(id, now -> new Changed(draining, now.disabled(), now.weight()));
    }

    /** The same, with that endpoint disabled or not. */
    public RuntimeState withDisabled(EndpointId id, boolean disabled) {
        return change(id, now -> new Changed(now.draining(), disabled, now.weight()));
    }

    /**
     * The same, with that endpoint's weight set.
     *
     * @param weight 0..1000; the configured one is as good as none set
     * @param configured what the configuration says
     */
    public RuntimeState withWeight(EndpointId id, int weight, int configured) {
        Optional<Weight> set = weight == configured ? Optional.empty() : Optional.of(new Weight(weight, configured));
        return change(id, now -> new Changed(now.draining(), now.disabled(), set));
    }

    private RuntimeState change(EndpointId id, UnaryOperator<Changed> how) {
        Map<EndpointId, Changed> changed = new TreeMap<>(endpoints);
        changed.put(id, how.apply(endpoint(id)));
        return new RuntimeState(changed, added, removed, drainingBackends, drainingFrontends, logLevel);
    }

    /**
     * The same, with an endpoint added, and nothing changed of it. One of the file with the same address must have been
     * removed before; it stays so.
     */
    public RuntimeState withAdded(String backend, EndpointConfig endpoint) {
        EndpointId id = EndpointId.of(backend, endpoint.address());
        Map<EndpointId, EndpointConfig> more = new TreeMap<>(added);
        more.put(id, endpoint);
        return new RuntimeState(without(id), more, removed, drainingBackends, drainingFrontends, logLevel);
    }

    /** The same without that endpoint, whether it was added or is of the file, and without what was changed of it. */
    public RuntimeState withRemoved(EndpointId id) {
        Map<EndpointId, EndpointConfig> fewer = new TreeMap<>(added);
        Set<EndpointId> gone = new TreeSet<>(removed);
        if (fewer.remove(id) == null) {
            gone.add(id);
        }
        return new RuntimeState(without(id), fewer, gone, drainingBackends, drainingFrontends, logLevel);
    }

    /** The same, with an endpoint of the file back that was removed, as the file has it. */
    public RuntimeState withRestored(EndpointId id) {
        Set<EndpointId> gone = new TreeSet<>(removed);
        gone.remove(id);
        return new RuntimeState(without(id), added, gone, drainingBackends, drainingFrontends, logLevel);
    }

    private Map<EndpointId, Changed> without(EndpointId id) {
        Map<EndpointId, Changed> others = new TreeMap<>(endpoints);
        others.remove(id);
        return others;
    }

    /** The same, with that backend draining as a whole or not; its endpoints' own drains stay as they are. */
    public RuntimeState withBackendDraining(String backend, boolean draining) {
        Set<String> names = changed(drainingBackends, backend, draining);
        return new RuntimeState(endpoints, added, removed, names, drainingFrontends, logLevel);
    }

    /** The same, with that frontend draining or not. */
    public RuntimeState withFrontendDraining(String frontend, boolean draining) {
        Set<String> names = changed(drainingFrontends, frontend, draining);
        return new RuntimeState(endpoints, added, removed, drainingBackends, names, logLevel);
    }

    private static Set<String> changed(Set<String> names, String name, boolean in) {
        Set<String> changed = new TreeSet<>(names);
        if (in) {
            changed.add(name);
        } else {
            changed.remove(name);
        }
        return changed;
    }

    /**
     * The same, with the log level set.
     *
     * @param level the configured one is as good as none set
     * @param configured what the configuration says
     */
    public RuntimeState withLogLevel(LogConfig.Level level, LogConfig.Level configured) {
        Optional<LogLevel> set = level == configured ? Optional.empty() : Optional.of(new LogLevel(level, configured));
        return new RuntimeState(endpoints, added, removed, drainingBackends, drainingFrontends, set);
    }

    // ---- a configuration that may have changed

    /**
     * What still applies beside that configuration. Dropped is: what is about frontends, backends and endpoints that it does
     * not have; a weight or log level set over another configured value than there is now; an added endpoint whose
     * address or name the file has in that backend, on an endpoint that was not removed. An unchanged configuration drops
     * nothing.
     *
     * @param now the configuration, with no change of operators in it
     */
    public RuntimeState reconcile(Config now) {
        Map<String, BackendConfig> backends =
                now.backends().stream().collect(Collectors.toMap(BackendConfig::name, backend -> backend));
        Set<String> frontends =
                now.frontends().stream().map(FrontendConfig::name).collect(Collectors.toSet());

        Set<EndpointId> stillRemoved = new TreeSet<>(removed);
        stillRemoved.retainAll(ids(now));
        Map<EndpointId, EndpointConfig> stillAdded = stillAdded(backends, stillRemoved);
        RuntimeState presence =
                new RuntimeState(Map.of(), stillAdded, stillRemoved, Set.of(), Set.of(), Optional.empty());
        Map<EndpointId, Integer> weights = new TreeMap<>();
        now.backends()
                .forEach(backend -> presence.endpoints(backend)
                        .forEach(endpoint ->
                                weights.put(EndpointId.of(backend.name(), endpoint.address()), endpoint.weight())));
        return new RuntimeState(
                stillChanged(weights),
                stillAdded,
                stillRemoved,
                retained(drainingBackends, backends.keySet()),
                retained(drainingFrontends, frontends),
                logLevel.filter(set -> set.over() == now.log().level()));
    }

    private static Set<EndpointId> ids(Config config) {
        Set<EndpointId> ids = new HashSet<>();
        config.backends()
                .forEach(backend -> backend.endpoints()
                        .forEach(endpoint -> ids.add(EndpointId.of(backend.name(), endpoint.address()))));
        return ids;
    }

    private Map<EndpointId, EndpointConfig> stillAdded(
            Map<String, BackendConfig> backends, Set<EndpointId> stillRemoved) {
        Set<EndpointId> addresses = new HashSet<>();
        Map<String, Set<String>> names = new TreeMap<>();
        backends.forEach((name, backend) -> {
            Set<String> taken = new HashSet<>();
            for (EndpointConfig endpoint : backend.endpoints()) {
                EndpointId id = EndpointId.of(name, endpoint.address());
                if (!stillRemoved.contains(id)) {
                    addresses.add(id);
                    taken.add(endpoint.name());
                }
            }
            names.put(name, taken);
        });
        Map<EndpointId, EndpointConfig> still = new TreeMap<>();
        added.forEach((id, endpoint) -> {
            Set<String> taken = names.get(id.backend()); // null when the backend is gone
            if (taken != null && !addresses.contains(id) && taken.add(endpoint.name())) {
                still.put(id, endpoint);
            }
        });
        return still;
    }

    private Map<EndpointId, Changed> stillChanged(Map<EndpointId, Integer> weights) {
        Map<EndpointId, Changed> still = new TreeMap<>();
        endpoints.forEach((id, change) -> {
            Integer configured = weights.get(id);
            if (configured != null) {
                still.put(
                        id,
                        new Changed(
                                change.draining(),
                                change.disabled(),
                                change.weight().filter(weight -> weight.over() == configured)));
            }
        });
        return still;
    }

    private static Set<String> retained(Set<String> names, Set<String> known) {
        Set<String> retained = new TreeSet<>(names);
        retained.retainAll(known);
        return retained;
    }
}
