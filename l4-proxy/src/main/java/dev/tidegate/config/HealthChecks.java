package dev.tidegate.config;

import dev.tidegate.config.HealthConfig.StatusRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What no key of health can tell by itself: keys of another type, and values that do not fit each other. Confined to the
 * thread that reads.
 */
final class HealthChecks {
    private static final Set<Key<String>> EXPECTING =
            Set.of(HealthKeys.EXPECT, HealthKeys.EXPECT_HEX, HealthKeys.EXPECT_REGEX);

    private static final Set<Integer> BODILESS = Set.of(204, 205, 304);

    private final Problems problems;
    private final Values backend;

    HealthChecks(Problems problems, Values backend) {
        this.problems = problems;
        this.backend = backend;
    }

    void run() {
        HealthKeys.healthOf(backend).ifPresent(this::health);
        backend.value(HealthKeys.OUTLIER).flatMap(outlier -> outlier).ifPresent(this::outlier);
        oneAttempt();
    }

    private void health(Located<Values> health) {
        intervals(health);
        addresses(health.value());
        health.value().value(HealthKeys.TYPE).ifPresent(type -> {
            HealthKeys.TYPES.forEach((key, types) -> keyOf(health.value(), type, key, types));
            switch (type) {
                case SEND_EXPECT -> dialogue(health);
                case HTTP -> http(health.value());
                case EXEC -> command(health);
                case TCP, GRPC, TLS -> {}
            }
        });
    }

    private void keyOf(Values health, CheckType type, Key<?> key, List<CheckType> types) {
        if (types.contains(type)) {
            return;
        }
        health.given(key).ifPresent(given -> {
            String words = words(types);
            problems.error(
                    given.mark(),
                    given.path(),
                    key.name() + " is for type" + (types.size() > 1 ? "s " : " ") + words + "; this check is "
                            + type.word(),
                    "remove it, or write type: " + types.get(0).word());
        });
    }

    private static String words(List<CheckType> types) {
        List<String> words = types.stream().map(CheckType::word).toList();
        int last = words.size() - 1;
        return last == 0 ? words.get(0) : String.join(", ", words.subList(0, last)) + " and " + words.get(last);
    }

    private void intervals(Located<Values> health) {
        Optional<Duration> interval = health.value().value(HealthKeys.INTERVAL);
        if (interval.isEmpty()) {
            return;
        }
        health.value()
                .given(HealthKeys.FAST_INTERVAL)
                .filter(fast -> fast.value().compareTo(interval.get()) > 0)
                .ifPresent(fast -> problems.error(
                        fast.mark(),
                        fast.path(),
                        "the fast interval " + Durations.format(fast.value()) + " is longer than the interval "
                                + Durations.format(interval.get()),
                        "make it at most the interval"));
        Optional<Duration> timeout = health.value().value(HealthKeys.TIMEOUT);
        if (timeout.isPresent() && timeout.get().compareTo(interval.get()) > 0) {
            Located<Duration> told = health.value()
                    .given(HealthKeys.TIMEOUT)
                    .or(() -> health.value().given(HealthKeys.INTERVAL))
                    .orElse(new Located<>(timeout.get(), health.mark(), health.path()));
            problems.warning(
                    told.mark(),
                    told.path(),
                    "a check may take " + Durations.format(timeout.get()) + ", longer than the interval "
                            + Durations.format(interval.get()) + ", so that the next one waits for it",
                    "make health.timeout at most health.interval");
        }
    }

    private void addresses(Values health) {
        Optional<Located<String>> address = health.given(HealthKeys.ADDRESS);
        Optional<Located<String>> source = health.given(HealthKeys.SOURCE);
        List<EndpointAddress> endpoints = endpointAddresses();
        if (source.isPresent()) {
            boolean v6 = isV6(source.get().value());
            // An address that was refused would have been checked in the endpoints' place.
            Optional<String> other = health.isRefused(HealthKeys.ADDRESS)
                    ? Optional.empty()
                    : address.map(Located::value)
                            .filter(text -> isV6(text) != v6)
                            .or(() -> address.isPresent() ? Optional.empty() : ofOtherFamily(endpoints, v6));
            other.ifPresent(text -> problems.error(
                    source.get().mark(),
                    source.get().path(),
                    cannotReach(source.get().value(), text),
                    "write an address of the same family"));
        }
        address.filter(text -> endpoints.size() > 1 && onePort(health, endpoints))
                .ifPresent(text -> problems.warning(
                        text.mark(),
                        text.path(),
                        "every endpoint's check goes to the same place, so that they go up and down together",
                        "remove it, so that each endpoint is checked itself"));
    }

    /** Why checks from that source cannot reach an IP address, known as {@code name}, in words; empty when they may. */
    static Optional<String> unreachable(String source, String host, String name) {
        return isV6(source) == isV6(host) ? Optional.empty() : Optional.of(cannotReach(source, name));
    }

    private static String cannotReach(String source, String name) {
        return "source " + source + " cannot reach " + name + ", which is " + (isV6(source) ? "IPv4" : "IPv6");
    }

    private List<EndpointAddress> endpointAddresses() {
        List<EndpointAddress> addresses = new ArrayList<>();
        backend.given(ConfigKeys.ENDPOINTS).ifPresent(endpoints -> {
            for (Located<Values> endpoint : endpoints.value()) {
                endpoint.value().value(ConfigKeys.ENDPOINT_ADDRESS).ifPresent(addresses::add);
            }
        });
        return addresses;
    }

    private static Optional<String> ofOtherFamily(List<EndpointAddress> endpoints, boolean v6) {
        return endpoints.stream()
                .filter(endpoint -> endpoint.literal() && isV6(endpoint.host()) != v6)
                .findFirst()
                .map(EndpointAddress::toString);
    }

    private static boolean isV6(String address) {
        return address.indexOf(':') >= 0;
    }

    private static boolean onePort(Values health, List<EndpointAddress> endpoints) {
        return health.given(HealthKeys.PORT).isPresent()
                || endpoints.stream().map(EndpointAddress::port).distinct().count() == 1;
    }

    private boolean isMissing(Located<Values> health, CheckType type, Key<?> key) {
        if (health.value().given(key).isPresent() || health.value().isRefused(key)) {
            return false;
        }
        problems.error(
                health.mark(),
                health.path().key(key.name()),
                "the key is missing",
                "type " + type.word() + " needs it: " + key.meaning());
        return true;
    }

    private void dialogue(Located<Values> health) {
        if (isMissing(health, CheckType.SEND_EXPECT, HealthKeys.STEPS)) {
            return;
        }
        health.value().given(HealthKeys.STEPS).ifPresent(steps -> {
            boolean expects = false;
            for (Located<Values> step : steps.value()) {
                expects |= step(step);
            }
            // Where every step was refused, what they expect is not known.
            if (!expects && !steps.value().isEmpty()) {
                problems.error(
                        steps.mark(),
                        steps.path(),
                        "no step expects anything, so that whoever takes a connection passes, as with type tcp",
                        "add a step with expect, expect-hex or expect-regex, or write type: tcp");
            }
        });
    }

    /** Checks that it does one thing; says whether it expects something, or was meant to. */
    private boolean step(Located<Values> step) {
        List<Key<String>> given = HealthKeys.STEP.stream()
                .filter(key -> step.value().given(key).isPresent())
                .toList();
        List<Key<String>> meant = HealthKeys.STEP.stream()
                .filter(key -> given.contains(key) || step.value().isRefused(key))
                .toList();
        if (meant.isEmpty()) {
            problems.error(
                    step.mark(),
                    step.path(),
                    "the step does nothing",
                    "give it one of " + HealthKeys.STEP.stream().map(Key::name).collect(Collectors.joining(", ")));
        } else if (meant.size() > 1) {
            problems.error(
                    step.mark(),
                    step.path(),
                    "the step has " + meant.stream().map(Key::name).collect(Collectors.joining(" and ")),
                    "make a step of each, in the order in which they shall come");
        }
        return meant.isEmpty() || meant.stream().anyMatch(EXPECTING::contains);
    }

    private void http(Values health) {
        health.given(HealthKeys.EXPECT_BODY)
                .filter(body -> health.value(HealthKeys.METHOD)
                        .filter(method -> method.equals("HEAD"))
                        .isPresent())
                .ifPresent(body -> problems.error(
                        body.mark(),
                        body.path(),
                        "an answer to HEAD has no body",
                        "write method: GET, or remove expect-body"));
        if (health.isRefused(HealthKeys.EXPECT_STATUS)) {
            return;
        }
        bodiless(health);
        List<StatusRange> passing = health.given(HealthKeys.EXPECT_STATUS)
                .map(list -> list.value().stream().map(Located::value).toList())
                .orElse(HealthConfig.Http.PASSING);
        health.given(HealthKeys.NOT_READY_STATUS)
                .ifPresent(list -> list.value().forEach(notReady -> notPassing(notReady, passing)));
    }

    private void bodiless(Values health) {
        health.given(HealthKeys.EXPECT_STATUS)
                .filter(statuses -> statuses.value().stream().allMatch(status -> hasNoBody(status.value())))
                .flatMap(statuses -> health.given(HealthKeys.EXPECT_BODY))
                .ifPresent(body -> problems.error(
                        body.mark(),
                        body.path(),
                        "no answer with a status of expect-status has a body",
                        "let another status pass, or remove expect-body"));
    }

    private static boolean hasNoBody(StatusRange status) {
        return status.from() == status.to() && BODILESS.contains(status.from());
    }

    private void notPassing(Located<StatusRange> notReady, List<StatusRange> passing) {
        passing.stream()
                .filter(range -> range.overlaps(notReady.value()))
                .findFirst()
                .ifPresent(range -> problems.error(
                        notReady.mark(),
                        notReady.path(),
                        "status " + notReady.value() + " is in " + range + " of expect-status, which passes",
                        "let each status mean one thing"));
    }

    private void command(Located<Values> health) {
        if (isMissing(health, CheckType.EXEC, HealthKeys.COMMAND)) {
            return;
        }
        health.value()
                .given(HealthKeys.COMMAND)
                .map(Located::value)
                .filter(words -> !words.isEmpty())
                .ifPresent(words -> {
                    Located<String> program = words.get(0);
                    try {
                        CheckWords.program(program.value());
                    } catch (InvalidValue e) {
                        problems.error(program.mark(), program.path(), e);
                        return;
                    }
                    if (words.size() == 1 && program.value().indexOf(' ') >= 0) {
                        problems.warning(
                                program.mark(),
                                program.path(),
                                Text.quote(program.value()) + " is taken for one path, since no shell takes it apart",
                                "write a list of the program and its arguments, as in [/usr/local/bin/check, --quick]");
                    }
                });
    }

    private void oneAttempt() {
        Optional<Integer> attempts =
                backend.value(ConfigKeys.CONNECT).flatMap(connect -> connect.value(ConfigKeys.ATTEMPTS));
        if (attempts.equals(Optional.of(1))) {
            backend.given(HealthKeys.RETRY_BUDGET)
                    .filter(budget -> budget.value().isPresent())
                    .ifPresent(budget -> problems.warning(
                            budget.mark(),
                            budget.path(),
                            "with connect.attempts 1 nothing is tried again, so that the budget is for nothing",
                            "remove it, or allow more attempts"));
        }
    }

    private void rate(Values outlier) {
        if (outlier.value(HealthKeys.FAILURE_RATE).equals(Optional.of(Optional.empty()))) {
            for (Key<?> key : List.of(HealthKeys.MIN_CONNECTIONS, HealthKeys.OUTLIER_INTERVAL)) {
                outlier.given(key)
                        .ifPresent(given -> problems.warning(
                                given.mark(),
                                given.path(),
                                "without failure-rate it means nothing",
                                "remove it, or set outlier.failure-rate"));
            }
        }
    }

    private void outlier(Values outlier) {
        rate(outlier);
        Optional<Duration> ejection = outlier.value(HealthKeys.EJECTION);
        outlier.given(HealthKeys.MAX_EJECTION)
                .filter(max -> ejection.isPresent() && max.value().compareTo(ejection.get()) < 0)
                .ifPresent(max -> problems.error(
                        max.mark(),
                        max.path(),
                        "the longest ejection " + Durations.format(max.value()) + " is shorter than the first, "
                                + Durations.format(ejection.get()),
                        "make it at least outlier.ejection"));
    }
}
