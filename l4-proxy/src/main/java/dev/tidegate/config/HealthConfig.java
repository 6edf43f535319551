package dev.tidegate.config;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * How endpoints of a backend are checked. Immutable.
 *
 * @param check what is asked
 * @param interval from one check to the next; 100 ms to 1 hour
 * @param fastInterval the same while results speak for a change; 50 ms up to {@code interval}
 * @param timeout of one check; 10 ms to 10 minutes
 * @param jitterPercent each interval is drawn from interval × (1 ± jitter); 0..50
 * @param rise passes in a row that bring an endpoint up; 1..100
 * @param fall other results in a row that take it out; 1..100
 * @param port where checks go instead of the endpoint's port
 * @param address the IP address where checks go instead of the endpoint's
 * @param source the IP address that checks come from
 * @param initial what holds until the first check
 * @param onDown what becomes of connections when an endpoint goes down
 * @param maxHoldDown the longest that a flapping endpoint is held down; 1 second to 1 day; empty: it is not
 */
public record HealthConfig(
        Check check,
        Duration interval,
        Duration fastInterval,
        Duration timeout,
        int jitterPercent,
        int rise,
        int fall,
        Optional<Integer> port,
        Optional<String> address,
        Optional<String> source,
        Initial initial,
        OnDown onDown,
        Optional<Duration> maxHoldDown) {
    /**
     * Checks the ranges and texts.
     *
     * @throws IllegalArgumentException if a value is out of range, or an address malformed
     */
    public HealthConfig {
        Objects.requireNonNull(check, "check");
        DurationRange.CHECK_INTERVAL.require("health interval", interval);
        DurationRange.CHECK_FAST_INTERVAL.require("health fast-interval", fastInterval);
        if (fastInterval.compareTo(interval) > 0) {
            throw new IllegalArgumentException("health fast-interval " + Durations.format(fastInterval)
                    + " is longer than the interval " + Durations.format(interval));
        }
        DurationRange.CHECK_TIMEOUT.require("health timeout", timeout);
        IntRange.CHECK_JITTER.require("health jitter", jitterPercent);
        IntRange.RISE.require("health rise", rise);
        IntRange.FALL.require("health fall", fall);
        if (port.isPresent()) {
            IntRange.PORT.require("health port", port.get());
        }
        address.ifPresent(text -> CheckWords.require(IpText::readHost, text));
        source.ifPresent(text -> CheckWords.require(IpText::readHost, text));
        DurationRange.MAX_HOLD_DOWN.require("health max-hold-down", maxHoldDown);
        Objects.requireNonNull(initial, "initial");
        Objects.requireNonNull(onDown, "onDown");
    }

    /**
     * Why checks of an endpoint cannot leave from the configured source, in words; empty when they can, or when only the
     * resolver knows.
     */
    public Optional<String> unreachable(EndpointAddress endpoint) {
        return source.filter(from -> address.isEmpty() && endpoint.literal())
                .flatMap(from -> HealthChecks.unreachable(from, endpoint.host(), endpoint.toString()));
    }

    /** What holds until the first check. */
    public enum Initial {
        /** Up. */
        UP,
        /** Down. */
        DOWN,
        /** Neither: it gets connections only when no other endpoint can take them. */
        UNKNOWN
    }

    /** What becomes of connections when an endpoint goes down. */
    public enum OnDown {
        /** They stay. */
        KEEP,
        /** They are retired. */
        DRAIN,
        /** They are cut, paced. */
        CUT
    }

    /** What is asked. */
    public sealed interface Check {
        /** The configuration's word for it. */
        String type();
    }

    /**
     * Connect, and no more.
     *
     * @param reset whether the connection is closed by a reset, which leaves nothing behind here, and not by FIN
     */
    public record Tcp(boolean reset) implements Check {
        @Override
        public String type() {
            return CheckType.TCP.word();
        }
    }

    /**
     * A dialogue.
     *
     * @param steps in order, one or more
     * @param notReady what is looked for in each answer awaited, and means "not ready"; a regular expression
     */
    public record SendExpect(List<Step> steps, Optional<String> notReady) implements Check {
        /**
         * Copies the list and checks it.
         *
         * @throws IllegalArgumentException if no step expects anything, there are more than 32, or the expression is none
         */
        public SendExpect {
            steps = List.copyOf(steps);
            requireAtMost("steps", CheckWords.STEPS_MAX, steps);
            if (steps.stream().noneMatch(step -> step.kind().expects())) {
                throw new IllegalArgumentException("no step of the dialogue expects anything");
            }
            notReady.ifPresent(text -> CheckWords.require(Regexes::read, text));
        }

        @Override
        public String type() {
            return CheckType.SEND_EXPECT.word();
        }
    }

    /**
     * One step of a dialogue.
     *
     * @param kind what is to be done
     * @param text as configured: text, hexadecimal digits or a regular expression
     */
    public record Step(Kind kind, String text) {
        /**
         * Checks the text.
         *
         * @throws IllegalArgumentException if it is empty, or not of its kind
         */
        public Step {
            CheckWords.require(reader(kind), text);
        }

        private static ScalarType.Parser<String> reader(Kind kind) {
            return switch (kind) {
                case SEND, EXPECT -> CheckWords::some;
                case SEND_HEX, EXPECT_HEX -> CheckWords::hex;
                case EXPECT_REGEX -> Regexes::read;
            };
        }

        /** What is to be done. */
        public enum Kind {
            /** Send the text, in UTF-8. */
            SEND,
            /** Send the bytes. */
            SEND_HEX,
            /** Wait for the text. */
            EXPECT,
            /** Wait for the bytes. */
            EXPECT_HEX,
            /** Wait until the expression is found in what has come, read as ISO 8859-1. */
            EXPECT_REGEX;

            /** Whether something is waited for. */
            public boolean expects() {
                return this == EXPECT || this == EXPECT_HEX || this == EXPECT_REGEX;
            }
        }
    }

    /**
     * A request by HTTP.
     *
     * @param method such as GET
     * @param path the request target, with its query
     * @param host the Host header or {@code :authority}; empty: the endpoint's address
     * @param headers further ones, {@code Name: value}
     * @param expectStatus what passes
     * @param notReadyStatus what means "not ready"
     * @param expectBody a regular expression to be found in the first 64 KiB of the body
     * @param http2 whether HTTP/2 is spoken, in cleartext and without asking
     */
    public record Http(
            String method,
            String path,
            Optional<String> host,
            List<String> headers,
            List<StatusRange> expectStatus,
            List<StatusRange> notReadyStatus,
            Optional<String> expectBody,
            boolean http2)
            implements Check {
        /** Statuses that pass where none are configured. */
        public static final List<StatusRange> PASSING = List.of(new StatusRange(200, 399));

        /**
         * Copies the lists and checks everything.
         *
         * @throws IllegalArgumentException if a text is malformed, no status passes, one means two things, or there are
         *     more than 32 headers or ranges of statuses
         */
        public Http {
            headers = List.copyOf(headers);
            expectStatus = List.copyOf(expectStatus);
            notReadyStatus = List.copyOf(notReadyStatus);
            CheckWords.require(CheckWords::method, method);
            CheckWords.require(CheckWords::target, path);
            host.ifPresent(text -> CheckWords.require(CheckWords::authority, text));
            headers.forEach(text -> CheckWords.require(CheckWords::header, text));
            expectBody.ifPresent(text -> CheckWords.require(Regexes::read, text));
            requireAtMost("headers", CheckWords.HEADERS_MAX, headers);
            requireAtMost("expect-status", CheckWords.STATUSES_MAX, expectStatus);
            requireAtMost("not-ready-status", CheckWords.STATUSES_MAX, notReadyStatus);
            if (expectStatus.isEmpty()) {
                throw new IllegalArgumentException("no status passes");
            }
            for (StatusRange passing : expectStatus) {
                for (StatusRange notReady : notReadyStatus) {
                    if (passing.overlaps(notReady)) {
                        throw new IllegalArgumentException(
                                "status " + notReady + " is \"not ready\", and " + passing + " passes");
                    }
                }
            }
        }

        @Override
        public String type() {
            return CheckType.HTTP.word();
        }
    }

    /**
     * Status codes from one to another, both included.
     *
     * @param from 100..599
     * @param to not below {@code from}
     */
    public record StatusRange(int from, int to) {
        /**
         * Checks the bounds.
         *
         * @throws IllegalArgumentException if one is no status, or they are the wrong way round
         */
        public StatusRange {
            IntRange.STATUS.require("status", from);
            IntRange.STATUS.require("status", to);
            if (to < from) {
                throw new IllegalArgumentException("statuses " + from + "-" + to + " end before they begin");
            }
        }

        /** Whether a status is in both. */
        public boolean overlaps(StatusRange other) {
            return from <= other.to && other.from <= to;
        }

        /** As the configuration writes it: {@code 204} or {@code 200-399}. */
        @Override
        public String toString() {
            return from == to ? String.valueOf(from) : from + "-" + to;
        }
    }

    /**
     * The standard gRPC health check, in cleartext.
     *
     * @param service the service's name; empty text: the server as a whole
     * @param host the {@code :authority}; empty: the endpoint's address
     */
    public record Grpc(String service, Optional<String> host) implements Check {
        /**
         * Checks the texts.
         *
         * @throws IllegalArgumentException if one is malformed
         */
        public Grpc {
            CheckWords.require(CheckWords::service, service);
            host.ifPresent(text -> CheckWords.require(CheckWords::authority, text));
        }

        @Override
        public String type() {
            return CheckType.GRPC.word();
        }
    }

    /**
     * A TLS handshake.
     *
     * @param serverName the name asked for (SNI); empty: none
     * @param ca a file of certificates, in PEM, by one of which the endpoint's must be signed; empty: it is not verified
     */
    public record Tls(Optional<String> serverName, Optional<String> ca) implements Check {
        /**
         * Checks the texts.
         *
         * @throws IllegalArgumentException if the name is no host name in lower case, or the path names no file
         */
        public Tls {
            serverName.ifPresent(text -> CheckWords.require(CheckWords::serverName, text));
            ca.ifPresent(Paths::requireFile);
        }

        @Override
        public String type() {
            return CheckType.TLS.word();
        }
    }

    /**
     * A program: exit status 0 passes, 75 is "not ready", 126 and 127 say that it cannot be run, any other fails.
     *
     * @param command the program and its arguments; no shell is between
     */
    public record Exec(List<String> command) implements Check {
        /**
         * Copies the list and checks it.
         *
         * @throws IllegalArgumentException if there is no program, its path is not absolute, or there are more than 100
         *     arguments
         */
        public Exec {
            command = List.copyOf(command);
            requireAtMost("command", CheckWords.ARGUMENTS_MAX, command);
            if (command.isEmpty()) {
                throw new IllegalArgumentException("the command is empty");
            }
            CheckWords.require(CheckWords::program, command.get(0));
            command.forEach(text -> CheckWords.require(CheckWords::argument, text));
        }

        @Override
        public String type() {
            return CheckType.EXEC.word();
        }
    }

    private static void requireAtMost(String name, int max, List<?> list) {
        if (list.size() > max) {
            throw new IllegalArgumentException(name + ": there are " + list.size() + ", more than " + max);
        }
    }
}
