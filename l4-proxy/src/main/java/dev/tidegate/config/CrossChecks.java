package dev.tidegate.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What no key can tell by itself: names and addresses used twice, references, values that do not fit each other. Works
 * on what could be read, so that one bad value does not hide the rest. Confined to the thread that reads.
 */
final class CrossChecks {
    private static final int NAMES_SHOWN = 10;
    private static final int NAMES_COMPARED = 100;

    private final Problems problems;
    private final Values root;
    private final Mark start;
    private final Merged frontends;
    private final Merged backends;

    CrossChecks(Problems problems, Located<Values> root, Merged frontends, Merged backends) {
        this.problems = problems;
        this.root = root.value();
        this.start = root.mark();
        this.frontends = frontends;
        this.backends = backends;
    }

    void run() {
        requireSome(frontends);
        requireSome(backends);
        shutdown();
        adminBeyondLoopback();
        distinctNames("frontend", frontends, ConfigKeys.FRONTEND_NAME);
        Map<String, Located<String>> backendNames = distinctNames("backend", backends, ConfigKeys.BACKEND_NAME);
        listeners();
        wildcardPairs();
        socketsNeedEpoll();
        frontends.elements().forEach(this::frontendLimit);
        frontends.elements().forEach(this::lifetime);
        unknownBackends(backendNames);
        unusedBackends(backendNames);
        Map<String, Map<String, Located<ListenAddress>>> listeners = listenersByBackend();
        for (Located<Values> backend : backends.elements()) {
            String name = backend.value().value(ConfigKeys.BACKEND_NAME).orElse("");
            backend(backend, listeners.getOrDefault(name, Map.of()));
        }
        execTurns();
    }

    private void execTurns() {
        ExecTurns turns = new ExecTurns(problems, Runtime.getRuntime().availableProcessors());
        for (Located<Values> backend : backends.elements()) {
            int endpoints = backend.value()
                    .given(ConfigKeys.ENDPOINTS)
                    .map(list -> list.value().size())
                    .orElse(0);
            HealthKeys.healthOf(backend.value()).ifPresent(health -> turns.add(health.value(), endpoints));
        }
        turns.run();
    }

    private void requireSome(Merged list) {
        if (list.elements().isEmpty() && list.complete()) {
            problems.error(
                    start,
                    KeyPath.ROOT.key(list.key().name()),
                    "the key is missing",
                    "give " + list.key().fallbackText());
        }
    }

    private void shutdown() {
        Values shutdown = root.value(ConfigKeys.PROCESS)
                .flatMap(process -> process.value(ConfigKeys.SHUTDOWN))
                .orElse(Values.NONE);
        Optional<Located<Duration>> spread = shutdown.given(ConfigKeys.SHUTDOWN_SPREAD);
        Optional<Duration> deadline = shutdown.value(ConfigKeys.SHUTDOWN_DEADLINE);
        if (spread.isPresent() && deadline.isPresent() && spread.get().value().compareTo(deadline.get()) > 0) {
            problems.error(
                    spread.get().mark(),
                    spread.get().path(),
                    "the spread " + Durations.format(spread.get().value()) + " is longer than the deadline "
                            + Durations.format(deadline.get()),
                    "make it at most the deadline");
        }
        Optional<Located<Duration>> lameDuck = shutdown.given(ConfigKeys.LAME_DUCK);
        if (lameDuck.isPresent()
                && deadline.isPresent()
                && lameDuck.get().value().compareTo(deadline.get()) >= 0) {
            problems.error(
                    lameDuck.get().mark(),
                    lameDuck.get().path(),
                    "the lame-duck time " + Durations.format(lameDuck.get().value())
                            + " leaves no time before the deadline " + Durations.format(deadline.get())
                            + ", at which every connection would be cut at once",
                    "make it shorter than the deadline");
        }
    }

    /** Whoever can reach the admin API from another machine must show a token, and nobody between may read it. */
    private void adminBeyondLoopback() {
        Values admin = root.value(ConfigKeys.ADMIN).orElse(Values.NONE);
        String missing = Stream.of(ConfigKeys.TOKEN_FILE, ConfigKeys.TLS)
                // What was refused has been told of, and was meant to be there.
                .filter(key -> admin.given(key).isEmpty() && !admin.isRefused(key))
                .map(key -> "admin." + key.name())
                .collect(Collectors.joining(" and "));
        Optional<Located<List<Located<ListenAddress>>>> listen = admin.given(ConfigKeys.ADMIN_LISTEN);
        if (missing.isEmpty() || listen.isEmpty()) {
            return;
        }
        for (Located<ListenAddress> address : listen.get().value()) {
            if (AdminConfig.isBeyondLoopback(address.value())) {
                problems.error(
                        address.mark(),
                        address.path(),
                        "address " + address.value() + " is beyond loopback, which needs " + missing,
                        "give " + missing + ", or write unix:/PATH or 127.0.0.1:"
                                + ((ListenAddress.Tcp) address.value()).port());
            }
        }
    }

    private Map<String, Located<String>> distinctNames(String what, Merged list, Key<String> key) {
        Map<String, Located<String>> names = new LinkedHashMap<>();
        for (Located<Values> element : list.elements()) {
            element.value().given(key).ifPresent(name -> claim(what + " name", name, names));
        }
        return names;
    }

    private <T> void claim(String what, Located<T> claimed, Map<T, Located<T>> owners) {
        Located<T> first = owners.putIfAbsent(claimed.value(), claimed);
        if (first != null) {
            problems.error(
                    claimed.mark(),
                    claimed.path(),
                    what + " " + Text.quote(claimed.value().toString()) + " is already used at "
                            + first.mark().from(claimed.mark()),
                    "give each its own");
        }
    }

    private void listeners() {
        List<Located<ListenAddress>> all = new ArrayList<>();
        root.value(ConfigKeys.ADMIN)
                .flatMap(admin -> admin.given(ConfigKeys.ADMIN_LISTEN))
                .ifPresent(listen -> all.addAll(listen.value()));
        for (Located<Values> frontend : frontends.elements()) {
            frontend.value().given(ConfigKeys.FRONTEND_LISTEN).ifPresent(listen -> all.addAll(listen.value()));
        }
        all.sort((a, b) -> a.mark().compareTo(b.mark()));
        Map<String, Map<String, Located<ListenAddress>>> byPort = new HashMap<>();
        for (Located<ListenAddress> address : all) {
            String port = address.value() instanceof ListenAddress.Tcp tcp
                    ? "" + tcp.port()
                    : address.value().toString();
            String host = address.value() instanceof ListenAddress.Tcp tcp ? tcp.host() : "";
            Map<String, Located<ListenAddress>> before = byPort.computeIfAbsent(port, p -> new LinkedHashMap<>());
            Optional<Located<ListenAddress>> taken = taken(address.value(), host, before);
            if (taken.isPresent()) {
                conflict(address, taken.get());
            } else {
                before.put(host, address);
            }
        }
    }

    /** Who has it already. Looks at everyone only for an address that stands for all of them. */
    private static Optional<Located<ListenAddress>> taken(
            ListenAddress address, String host, Map<String, Located<ListenAddress>> before) {
        Stream<Located<ListenAddress>> rivals = ListenAddresses.isWildcard(host)
                ? before.values().stream()
                : Stream.of(host, ListenAddresses.ANY_V4, ListenAddresses.ANY_V6)
                        .map(before::get)
                        .filter(Objects::nonNull);
        return rivals.filter(rival -> ListenAddresses.conflict(rival.value(), address))
                .findFirst();
    }

    private void conflict(Located<ListenAddress> address, Located<ListenAddress> taken) {
        boolean same = address.value().equals(taken.value());
        problems.error(
                address.mark(),
                address.path(),
                "address " + address.value()
                        + (same ? " is already listened on by " : " overlaps " + taken.value() + " of ")
                        + taken.path() + " at " + taken.mark().from(address.mark()),
                "give each listener an address of its own");
    }

    /**
     * {@code [::]} and {@code 0.0.0.0} with one port and two frontends need IPV6_V6ONLY, which only epoll can set. With
     * {@code auto} the start finds out.
     */
    private void wildcardPairs() {
        Optional<Located<ProcessConfig.Transport>> transport =
                root.value(ConfigKeys.PROCESS).flatMap(process -> process.given(ConfigKeys.TRANSPORT));
        if (transport.isEmpty()
                || transport.get().value() == ProcessConfig.Transport.AUTO
                || transport.get().value() == ProcessConfig.Transport.EPOLL) {
            return;
        }
        String name = transport.get().value().name().toLowerCase(Locale.ROOT);
        Map<String, Located<ListenAddress>> wildcards = new HashMap<>();
        for (Located<Values> frontend : frontends.elements()) {
            Map<String, Located<ListenAddress>> own = new LinkedHashMap<>();
            frontend.value()
                    .given(ConfigKeys.FRONTEND_LISTEN)
                    .ifPresent(
                            listen -> listen.value().forEach(address -> wildcardPair(address, name, wildcards, own)));
            own.forEach(wildcards::putIfAbsent);
        }
    }

    /** No other transport can take a descriptor that is open already. With {@code auto} the process uses epoll. */
    private void socketsNeedEpoll() {
        Optional<Located<ProcessConfig.Transport>> transport =
                root.value(ConfigKeys.PROCESS).flatMap(process -> process.given(ConfigKeys.TRANSPORT));
        if (transport.isEmpty()
                || transport.get().value() == ProcessConfig.Transport.AUTO
                || transport.get().value() == ProcessConfig.Transport.EPOLL) {
            return;
        }
        String name = transport.get().value().name().toLowerCase(Locale.ROOT);
        for (Located<Values> frontend : frontends.elements()) {
            frontend.value()
                    .given(ConfigKeys.FRONTEND_LISTEN)
                    .ifPresent(listen -> listen.value().stream()
                            .filter(address -> address.value() instanceof ListenAddress.Systemd)
                            .forEach(address -> problems.error(
                                    address.mark(),
                                    address.path(),
                                    "address " + address.value() + " cannot be had with process.transport " + name
                                            + ", which takes no socket from outside",
                                    "use process.transport auto or epoll, or write HOST:PORT")));
        }
    }

    private void wildcardPair(
            Located<ListenAddress> address,
            String transport,
            Map<String, Located<ListenAddress>> others,
            Map<String, Located<ListenAddress>> own) {
        if (!(address.value() instanceof ListenAddress.Tcp tcp)
                || tcp.port() == 0
                || !ListenAddresses.isWildcard(tcp.host())) {
            return;
        }
        boolean v4 = tcp.host().equals(ListenAddresses.ANY_V4);
        String rivalHost = v4 ? ListenAddresses.ANY_V6 : ListenAddresses.ANY_V4;
        Located<ListenAddress> rival = others.get(new ListenAddress.Tcp(rivalHost, tcp.port()).toString());
        if (rival != null) {
            problems.error(
                    address.mark(),
                    address.path(),
                    "address " + address.value() + " beside " + rival.value() + " of " + rival.path() + " at "
                            + rival.mark().from(address.mark()) + " cannot be kept apart with transport " + transport,
                    "use process.transport epoll, or one frontend for both");
        }
        own.put(address.value().toString(), address);
    }

    private void frontendLimit(Located<Values> frontend) {
        OptionalInt processMax = root.value(ConfigKeys.PROCESS)
                .flatMap(process -> process.value(ConfigKeys.PROCESS_MAX_CONNECTIONS))
                .orElse(OptionalInt.empty());
        Optional<Located<OptionalInt>> own = frontend.value().given(ConfigKeys.FRONTEND_MAX_CONNECTIONS);
        if (own.isPresent() && processMax.isPresent() && own.get().value().orElse(0) > processMax.getAsInt()) {
            problems.warning(
                    own.get().mark(),
                    own.get().path(),
                    "the limit is above the process's " + processMax.getAsInt() + " and never reached",
                    "raise process.max-connections, or lower this");
        }
    }

    /** Settings with which a limit cuts connections that it was meant to end without harm. */
    private void lifetime(Located<Values> frontend) {
        Values lifetime = frontend.value().value(ConfigKeys.LIFETIME).orElse(Values.NONE);
        Optional<Duration> grace = lifetime.value(ConfigKeys.GRACE);
        Optional<Duration> quiet = lifetime.value(ConfigKeys.QUIET);
        if (!limits(lifetime)
                || grace.isEmpty()
                || quiet.isEmpty()
                || quiet.get().compareTo(grace.get()) < 0) {
            return;
        }
        Optional<Located<Duration>> givenGrace = lifetime.given(ConfigKeys.GRACE);
        if (grace.get().isZero() && givenGrace.isPresent()) {
            problems.warning(
                    givenGrace.get().mark(),
                    givenGrace.get().path(),
                    "a connection that is at work when it comes to its limit is cut at once",
                    "give it time to come to an end, as in 5m");
            return;
        }
        Located<Duration> told = lifetime.given(ConfigKeys.QUIET)
                .or(() -> givenGrace)
                .orElse(new Located<>(quiet.get(), frontend.mark(), frontend.path()));
        problems.warning(
                told.mark(),
                told.path(),
                "the silence asked for, " + Durations.format(quiet.get()) + ", does not fit into the grace "
                        + Durations.format(grace.get()) + ", so that a connection which is not silent already is cut",
                "make lifetime.quiet shorter than lifetime.grace");
    }

    private static boolean limits(Values lifetime) {
        return lifetime.value(ConfigKeys.MAX_AGE).flatMap(age -> age).isPresent()
                || lifetime.value(ConfigKeys.MAX_REQUESTS)
                        .filter(OptionalInt::isPresent)
                        .isPresent()
                || lifetime.value(ConfigKeys.MAX_BYTES)
                        .filter(OptionalLong::isPresent)
                        .isPresent();
    }

    private void unknownBackends(Map<String, Located<String>> names) {
        // Where a backend or its name could not be read, it may be the very one.
        if (!backends.complete() || !allGiven(backends, ConfigKeys.BACKEND_NAME)) {
            return;
        }
        for (Located<Values> frontend : frontends.elements()) {
            frontend.value()
                    .given(ConfigKeys.FRONTEND_BACKEND)
                    .filter(reference -> !names.containsKey(reference.value()))
                    .ifPresent(reference -> unknownBackend(reference, names.keySet()));
        }
    }

    private void unusedBackends(Map<String, Located<String>> names) {
        Set<String> unused = new LinkedHashSet<>(names.keySet());
        boolean slip = false;
        for (Located<Values> frontend : frontends.elements()) {
            Optional<Located<String>> reference = frontend.value().given(ConfigKeys.FRONTEND_BACKEND);
            slip |= reference.isEmpty() || !names.containsKey(reference.get().value());
            reference.ifPresent(used -> unused.remove(used.value()));
        }
        // With a reference unknown, "unused" would most likely be the same slip told twice.
        if (slip || frontends.elements().isEmpty() || !frontends.complete()) {
            return;
        }
        for (String name : unused) {
            Located<String> place = names.get(name);
            problems.warning(
                    place.mark(),
                    place.path(),
                    "no frontend uses backend " + Text.quote(name),
                    "point a frontend's backend at it, or remove it");
        }
    }

    private static boolean allGiven(Merged list, Key<?> key) {
        return list.elements().stream()
                .allMatch(element -> element.value().given(key).isPresent());
    }

    private void unknownBackend(Located<String> reference, Set<String> known) {
        String near = problems.isHintWorthIt()
                ? Text.nearest(
                        reference.value(), known.stream().limit(NAMES_COMPARED).toList())
                : "";
        String shown = String.join(", ", known.stream().limit(NAMES_SHOWN).toList());
        String all = known.size() > NAMES_SHOWN ? shown + ", …" : shown;
        String hint = known.isEmpty() ? "add it under backends" : "known: " + all;
        if (!near.isEmpty()) {
            hint = "did you mean " + near + "?";
        }
        problems.error(
                reference.mark(), reference.path(), "backend " + Text.quote(reference.value()) + " is unknown", hint);
    }

    private void backend(Located<Values> backend, Map<String, Located<ListenAddress>> listeners) {
        backend.value().value(ConfigKeys.CONNECT).ifPresent(connect -> connect(backend, connect));
        new HealthChecks(problems, backend.value()).run();
        backend.value().given(ConfigKeys.ENDPOINTS).ifPresent(endpoints -> {
            endpoints(endpoints.value());
            weights(endpoints);
            loops(listeners, endpoints.value());
        });
    }

    private void connect(Located<Values> backend, Values connect) {
        Optional<Duration> timeout = connect.value(ConfigKeys.CONNECT_TIMEOUT);
        Optional<Duration> deadline = connect.value(ConfigKeys.CONNECT_DEADLINE);
        if (timeout.isEmpty() || deadline.isEmpty() || timeout.get().compareTo(deadline.get()) <= 0) {
            return;
        }
        Located<Duration> told = connect.given(ConfigKeys.CONNECT_TIMEOUT)
                .or(() -> connect.given(ConfigKeys.CONNECT_DEADLINE))
                .orElse(new Located<>(timeout.get(), backend.mark(), backend.path()));
        problems.warning(
                told.mark(),
                told.path(),
                "one attempt's timeout " + Durations.format(timeout.get()) + " is longer than the deadline of all, "
                        + Durations.format(deadline.get()) + ", which ends it first",
                "make connect.deadline at least connect.timeout");
    }

    private void endpoints(List<Located<Values>> endpoints) {
        Map<String, Located<String>> names = new HashMap<>();
        Map<EndpointAddress, Located<EndpointAddress>> addresses = new HashMap<>();
        for (Located<Values> endpoint : endpoints) {
            Optional<Located<EndpointAddress>> address = endpoint.value().given(ConfigKeys.ENDPOINT_ADDRESS);
            address.ifPresent(given -> claim("address", given, addresses));
            Optional<Located<String>> name = endpoint.value().given(ConfigKeys.ENDPOINT_NAME);
            name.ifPresent(given -> claim("endpoint name", given, names));
            // Without a name it goes by its address; the same address twice has been told of just now.
            if (name.isEmpty()
                    && address.isPresent()
                    && addresses.get(address.get().value()).equals(address.get())) {
                Located<EndpointAddress> given = address.get();
                claim("endpoint name", new Located<>(given.value().toString(), given.mark(), given.path()), names);
            }
        }
    }

    private void weights(Located<List<Located<Values>>> endpoints) {
        boolean allZero = endpoints.value().stream()
                .allMatch(endpoint -> endpoint.value()
                        .value(ConfigKeys.WEIGHT)
                        .filter(weight -> weight == 0)
                        .isPresent());
        if (allZero && !endpoints.value().isEmpty()) {
            problems.warning(
                    endpoints.mark(),
                    endpoints.path(),
                    "every weight is 0, so no connection can be served",
                    "give at least one endpoint a weight of 1 or more");
        }
    }

    /** Addresses of the frontends by the backend they send to. */
    private Map<String, Map<String, Located<ListenAddress>>> listenersByBackend() {
        Map<String, Map<String, Located<ListenAddress>>> byBackend = new HashMap<>();
        for (Located<Values> frontend : frontends.elements()) {
            Optional<Located<String>> backend = frontend.value().given(ConfigKeys.FRONTEND_BACKEND);
            Optional<Located<List<Located<ListenAddress>>>> listen =
                    frontend.value().given(ConfigKeys.FRONTEND_LISTEN);
            if (backend.isPresent() && listen.isPresent()) {
                Map<String, Located<ListenAddress>> addresses =
                        byBackend.computeIfAbsent(backend.get().value(), name -> new HashMap<>());
                listen.get()
                        .value()
                        .forEach(address -> addresses.put(address.value().toString(), address));
            }
        }
        return byBackend;
    }

    /** An endpoint that is a listener of a frontend which uses this very backend: connections would chase their tail. */
    private void loops(Map<String, Located<ListenAddress>> listeners, List<Located<Values>> endpoints) {
        for (Located<Values> endpoint : endpoints) {
            endpoint.value().given(ConfigKeys.ENDPOINT_ADDRESS).ifPresent(address -> {
                Located<ListenAddress> listener = listeners.get(address.value().toString());
                if (listener != null) {
                    problems.warning(
                            address.mark(),
                            address.path(),
                            "address " + address.value() + " is listened on by " + listener.path()
                                    + ", which sends its connections here again",
                            "write the address of the server itself");
                }
            });
        }
    }
}
