package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigSchema;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.control.ConfigDiff.Applies;
import dev.tidegate.control.ConfigDiff.Change;
import dev.tidegate.control.ConfigDiff.Op;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds the differences of two configurations. For one comparison, on one thread. */
final class ConfigComparison {
    private static final String FRONTENDS = "frontends";
    private static final String BACKENDS = "backends";
    private static final String ENDPOINTS = "endpoints";
    private static final String LISTEN = "listen";

    private final OpenConnections open;
    private final boolean adoptsSockets;
    private final List<Change> changes = new ArrayList<>();

    ConfigComparison(OpenConnections open, boolean adoptsSockets) {
        this.open = open;
        this.adoptsSockets = adoptsSockets;
    }

    /** A place: its key in the reference table, and its path as problems name it. */
    private record Place(String key, String path) {
        static final Place ROOT = new Place("", "");

        Place in(String name) {
            return new Place(join(key, name), join(path, name));
        }

        Place element(String list, String name) {
            return new Place(join(key, list) + "[]", join(join(path, list), name));
        }

        private static String join(String prefix, String name) {
            return prefix.isEmpty() ? name : prefix + "." + name;
        }
    }

    List<Change> compare(Config before, Config after) {
        values(Place.ROOT, ConfigValues.ofProcess(before), ConfigValues.ofProcess(after), 0);
        frontends(byName(before.frontends(), FrontendConfig::name), byName(after.frontends(), FrontendConfig::name));
        backends(byName(before.backends(), BackendConfig::name), byName(after.backends(), BackendConfig::name));
        return changes;
    }

    private void frontends(Map<String, FrontendConfig> before, Map<String, FrontendConfig> after) {
        after.forEach((name, frontend) -> {
            Place place = Place.ROOT.element(FRONTENDS, name);
            boolean later = !adoptsSockets && frontend.listensByDescriptor();
            if (before.containsKey(name)) {
                Map<String, String> was = ConfigValues.of(before.get(name));
                Map<String, String> now = ConfigValues.of(frontend);
                if (later) {
                    change(place.in(LISTEN), was.remove(LISTEN), now.remove(LISTEN), Applies.RESTART);
                }
                values(place, was, now, 0);
            } else {
                add(place, ConfigValues.of(frontend), later ? Applies.RESTART : Applies.LIVE);
            }
        });
        before.forEach((name, frontend) -> {
            if (!after.containsKey(name)) {
                remove(Place.ROOT.element(FRONTENDS, name), ConfigValues.of(frontend), open.ofFrontend(name));
            }
        });
    }

    private void backends(Map<String, BackendConfig> before, Map<String, BackendConfig> after) {
        after.forEach((name, backend) -> {
            Place place = Place.ROOT.element(BACKENDS, name);
            if (before.containsKey(name)) {
                values(place, ConfigValues.of(before.get(name)), ConfigValues.of(backend), 0);
                groups(place, HealthValues.groups(before.get(name)), HealthValues.groups(backend));
                endpoints(place, before.get(name), backend);
            } else {
                add(place, whole(backend));
            }
        });
        before.forEach((name, backend) -> {
            if (!after.containsKey(name)) {
                int connections = backend.endpoints().stream()
                        .mapToInt(endpoint ->
                                open.ofEndpoint(name, endpoint.address().toString()))
                        .sum();
                remove(Place.ROOT.element(BACKENDS, name), whole(backend), connections);
            }
        });
    }

    private static Map<String, String> whole(BackendConfig backend) {
        Map<String, String> whole = ConfigValues.of(backend);
        HealthValues.groups(backend).forEach((group, values) -> whole.put(group, groupText(group, values)));
        whole.put(
                ENDPOINTS,
                backend.endpoints().stream()
                        .map(endpoint -> endpoint.name() + " " + ConfigValues.text(ConfigValues.of(endpoint)))
                        .collect(Collectors.joining(", ", "[", "]")));
        return whole;
    }

    private static String groupText(String group, Optional<Map<String, String>> values) {
        return values.map(ConfigValues::text).orElse(HealthValues.off(group));
    }

    /** A group that is switched on or off is one change; of one that stays, each value is. */
    private void groups(
            Place backend,
            Map<String, Optional<Map<String, String>>> before,
            Map<String, Optional<Map<String, String>>> after) {
        after.forEach((group, values) -> {
            Optional<Map<String, String>> was = before.get(group);
            if (was.isPresent() && values.isPresent()) {
                groupValues(backend.in(group), was.get(), values.get());
            } else {
                value(backend.in(group), groupText(group, was), groupText(group, values), 0);
            }
        });
    }

    /** Checks of different types have different keys. */
    private void groupValues(Place group, Map<String, String> before, Map<String, String> after) {
        after.forEach((name, value) -> {
            if (before.containsKey(name)) {
                value(group.in(name), before.get(name), value, 0);
            } else {
                changes.add(new Change(Op.ADD, group.in(name).path(), "", value, Applies.LIVE, 0));
            }
        });
        before.forEach((name, value) -> {
            if (!after.containsKey(name)) {
                changes.add(new Change(Op.REMOVE, group.in(name).path(), value, "", Applies.LIVE, 0));
            }
        });
    }

    private void endpoints(Place backend, BackendConfig before, BackendConfig after) {
        Map<String, EndpointConfig> old = byName(before.endpoints(), EndpointConfig::name);
        Map<String, EndpointConfig> now = byName(after.endpoints(), EndpointConfig::name);
        Map<String, EndpointConfig> renamed = renamed(old, now);
        Set<String> stay = after.endpoints().stream()
                .map(endpoint -> endpoint.address().toString())
                .collect(Collectors.toCollection(HashSet::new));
        now.forEach((name, endpoint) -> {
            Place place = backend.element(ENDPOINTS, name);
            if (old.containsKey(name)) {
                EndpointConfig was = old.get(name);
                values(place, ConfigValues.of(was), ConfigValues.of(endpoint), leaving(after.name(), was, stay));
            } else if (renamed.containsKey(name)) {
                EndpointConfig was = renamed.get(name);
                value(place.in("name"), was.name(), name, 0);
                values(place, ConfigValues.of(was), ConfigValues.of(endpoint), 0);
            } else {
                add(place, ConfigValues.of(endpoint));
            }
        });
        Set<String> found = new HashSet<>(now.keySet());
        renamed.values().forEach(was -> found.add(was.name()));
        old.forEach((name, endpoint) -> {
            if (!found.contains(name)) {
                remove(
                        backend.element(ENDPOINTS, name),
                        ConfigValues.of(endpoint),
                        leaving(after.name(), endpoint, stay));
            }
        });
    }

    /** New names whose address another name has given up: the same endpoint, which keeps its connections. */
    private static Map<String, EndpointConfig> renamed(
            Map<String, EndpointConfig> old, Map<String, EndpointConfig> now) {
        Map<String, EndpointConfig> freed = new LinkedHashMap<>();
        old.values().stream()
                .filter(endpoint -> !now.containsKey(endpoint.name()))
                .forEach(endpoint -> freed.put(endpoint.address().toString(), endpoint));
        Map<String, EndpointConfig> renamed = new LinkedHashMap<>();
        now.values().stream()
                .filter(endpoint -> !old.containsKey(endpoint.name())
                        && freed.containsKey(endpoint.address().toString()))
                .forEach(endpoint -> renamed.put(
                        endpoint.name(), freed.get(endpoint.address().toString())));
        return renamed;
    }

    /** An endpoint is its address: its connections stay while the backend has that address under any name. */
    private int leaving(String backend, EndpointConfig was, Set<String> stay) {
        String address = was.address().toString();
        return stay.contains(address) ? 0 : open.ofEndpoint(backend, address);
    }

    private static <T> Map<String, T> byName(List<T> list, Function<T, String> name) {
        Map<String, T> byName = new LinkedHashMap<>();
        list.forEach(element -> byName.put(name.apply(element), element));
        return byName;
    }

    /** @param connections how many a changed address retires */
    private void values(Place place, Map<String, String> before, Map<String, String> after, int connections) {
        after.forEach((name, value) ->
                value(place.in(name), before.get(name), value, name.equals("address") ? connections : 0));
    }

    private void value(Place place, String before, String after, int connections) {
        if (!before.equals(after)) {
            Applies applies = ConfigSchema.isLive(place.key()) ? Applies.LIVE : Applies.RESTART;
            changes.add(new Change(Op.CHANGE, place.path(), before, after, applies, connections));
        }
    }

    private void change(Place place, String before, String after, Applies applies) {
        changes.add(new Change(Op.CHANGE, place.path(), before, after, applies, 0));
    }

    private void add(Place place, Map<String, String> values) {
        add(place, values, Applies.LIVE);
    }

    private void add(Place place, Map<String, String> values, Applies applies) {
        changes.add(new Change(Op.ADD, place.path(), "", ConfigValues.text(values), applies, 0));
    }

    private void remove(Place place, Map<String, String> values, int connections) {
        changes.add(new Change(Op.REMOVE, place.path(), ConfigValues.text(values), "", Applies.LIVE, connections));
    }
}
