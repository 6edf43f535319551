package dev.tidegate.config;

import dev.tidegate.config.AccessLogConfig.Format;
import dev.tidegate.config.BackendConfig.Balance;
import dev.tidegate.config.ConnectConfig.ProxyProtocol;
import dev.tidegate.config.FrontendConfig.Protocol;
import dev.tidegate.config.LogConfig.Level;
import dev.tidegate.config.ProcessConfig.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Every key there is: the one source of the reader, the JSON Schema and the reference table. Immutable. */
final class ConfigKeys {
    private static final String LATER = "is not in this version";
    private static final String UNLIMITED = "unlimited";
    private static final String MAIN_FILE_ONLY = "belongs in the main file, not in an included one";

    // process

    static final Key<OptionalInt> WORKERS = Key.optional(
                    "workers",
                    ScalarType.wholeOrAuto(IntRange.WORKERS, "threads"),
                    OptionalInt.empty(),
                    "auto",
                    "event loops; `auto` is one for each available processor")
            .atRestart();
    static final Key<Transport> TRANSPORT = Key.optional(
                    "transport",
                    ScalarType.oneOf(
                            ScalarType.words(
                                    Map.entry("auto", Transport.AUTO),
                                    Map.entry("io_uring", Transport.IO_URING),
                                    Map.entry("epoll", Transport.EPOLL),
                                    Map.entry("nio", Transport.NIO)),
                            Map.of()),
                    Transport.AUTO,
                    "auto",
                    "how sockets are driven; `auto` takes the best that works and logs which and why, any other word fails at"
                            + " the start if it does not work")
            .atRestart();
    static final Key<OptionalInt> PROCESS_MAX_CONNECTIONS = Key.optional(
                    "max-connections",
                    ScalarType.wholeOrAuto(IntRange.MAX_CONNECTIONS, "connections"),
                    OptionalInt.empty(),
                    "auto",
                    "client connections at once in the whole process; `auto` is what the limit on file descriptors allows, less"
                            + " a reserve, and what the heap carries if that is less")
            .atRestart();
    static final Key<String> STATE_DIR = Key.derived(
                    "state-dir",
                    ScalarType.text("path", "a directory's path", "", ConfigKeys::directory),
                    "`$STATE_DIRECTORY`, else `tidegate` in `$XDG_STATE_HOME`, else `~/.local/state/tidegate`",
                    "the directory that keeps what operators changed at run time, so that it outlives a restart; made if it is"
                            + " not there")
            .atRestart();
    static final Key<Optional<Duration>> WARM_UP = Key.optional(
                    "warm-up",
                    ScalarType.durationOrOff(DurationRange.WARM_UP, "to listen at once"),
                    Optional.of(ProcessConfig.WARM_UP),
                    Durations.format(ProcessConfig.WARM_UP),
                    "before it listens, the process sends connections through itself, from itself to itself, for so long at"
                            + " most and less once that makes it no faster; `off` is not at all")
            .atRestart();
    static final Key<Duration> SHUTDOWN_DEADLINE = Key.optional(
            "deadline",
            ScalarType.duration(DurationRange.SHUTDOWN_DEADLINE),
            Duration.ofMinutes(5),
            "5m",
            "how long after TERM connections may last; what is left then is cut");
    static final Key<Duration> SHUTDOWN_SPREAD = Key.derived(
            "spread",
            ScalarType.duration(DurationRange.SHUTDOWN_SPREAD),
            "10s, or half the deadline if that is shorter",
            "each connection begins to end at a moment drawn from this window; at most the deadline; `0s` is all at once");
    static final Key<Duration> LAME_DUCK = Key.optional(
            "lame-duck",
            ScalarType.duration(DurationRange.LAME_DUCK),
            Duration.ZERO,
            "0s",
            "for how long after TERM connections are still accepted while `/readyz` already says no; shorter than the"
                    + " deadline");
    static final Key<Values> SHUTDOWN = Key.section(
            "shutdown", section(Map.of(), SHUTDOWN_DEADLINE, SHUTDOWN_SPREAD, LAME_DUCK), "how a graceful stop goes");

    // admin

    static final Key<List<Located<ListenAddress>>> ADMIN_LISTEN = Key.derived(
                    "listen",
                    new OneOrMany<>(ScalarType.text(
                            "admin address",
                            "unix:/PATH, HOST:PORT or systemd:NAME, as in 127.0.0.1:9901",
                            "",
                            ListenAddresses::read)),
                    "`unix:` and `admin.sock` in `$RUNTIME_DIRECTORY`, else in `$XDG_RUNTIME_DIR/tidegate`; with neither, off",
                    "where the admin API listens: `unix:/PATH`, an IP address and port, or `systemd:NAME`; beyond loopback"
                            + " only with both `token-file` and `tls`")
            .atRestart();
    static final Key<String> TOKEN_FILE = Key.derived(
                    "token-file",
                    Paths.file(),
                    "none",
                    "who may do what on TCP: a file with lines `ROLE TOKEN`, roles `viewer`, `operator` and `admin`; without it"
                            + " TCP serves reads only")
            .atRestart();
    static final Key<String> CERTIFICATE = Key.required(
                    "certificate", Paths.file(), "the server's certificate and those between it and its root, in PEM")
            .atRestart();
    static final Key<String> PRIVATE_KEY = Key.required("key", Paths.file(), "the certificate's private key, in PEM")
            .atRestart();
    static final Key<String> CLIENT_CA = Key.derived(
                    "client-ca",
                    Paths.file(),
                    "clients need no certificate",
                    "certificates, in PEM, by one of which a client's must be signed")
            .atRestart();
    static final Key<Values> TLS = Key.derived(
            "tls",
            section(Map.of(), CERTIFICATE, PRIVATE_KEY, CLIENT_CA),
            "not encrypted",
            "encrypts the admin API on TCP");

    // log

    static final Key<Level> LEVEL = Key.optional(
            "level",
            ScalarType.oneOf(
                    ScalarType.words(
                            Map.entry("error", Level.ERROR),
                            Map.entry("warn", Level.WARN),
                            Map.entry("info", Level.INFO),
                            Map.entry("debug", Level.DEBUG),
                            Map.entry("trace", Level.TRACE)),
                    Map.of()),
            Level.INFO,
            "info",
            "how much the process says about itself");
    static final Key<String> ACCESS_PATH = Key.optional(
                    "path",
                    ScalarType.text("path", "stdout, none, or a file's path", "", ConfigKeys::accessLogPath),
                    AccessLogConfig.STDOUT,
                    "stdout",
                    "where the access log goes: `stdout`, `none`, or a file")
            .atRestart();
    static final Key<Format> ACCESS_FORMAT = Key.optional(
                    "format",
                    ScalarType.oneOf(
                            ScalarType.words(Map.entry("json", Format.JSON), Map.entry("haproxy", Format.HAPROXY)),
                            Map.of()),
                    Format.JSON,
                    "json",
                    "one JSON object a connection, or the fields of HAProxy's TCP log")
            .atRestart();
    static final Key<Values> ACCESS =
            Key.section("access", section(Map.of(), ACCESS_PATH, ACCESS_FORMAT), "one line for each connection's end");

    // frontends

    static final Key<String> FRONTEND_NAME = Key.required(
            "name",
            ScalarType.text("name", "a name", Names.NAME_PATTERN, ConfigKeys::name),
            "the frontend's name in logs, metrics and commands; unique among frontends");
    static final Key<List<Located<ListenAddress>>> FRONTEND_LISTEN = Key.required(
            "listen",
            new OneOrMany<>(ScalarType.text(
                    "address", "HOST:PORT or systemd:NAME, as in 0.0.0.0:8080", "", ConfigKeys::frontendAddress)),
            "where clients connect: an IP address and port, IPv6 in brackets, port 0 lets the system choose; or"
                    + " `systemd:NAME`, the sockets that systemd passes under that name, which need the transport epoll");
    static final Key<String> FRONTEND_BACKEND = Key.required(
            "backend",
            ScalarType.text("name", "the name of a backend", Names.NAME_PATTERN, ConfigKeys::name),
            "the backend that connections go to");
    static final Key<Protocol> PROTOCOL = Key.optional(
            "protocol",
            ScalarType.oneOf(
                    ScalarType.words(
                            Map.entry("auto", Protocol.AUTO),
                            Map.entry("tcp", Protocol.TCP),
                            Map.entry("http1", Protocol.HTTP1),
                            Map.entry("http2", Protocol.HTTP2)),
                    Map.of()),
            Protocol.AUTO,
            "auto",
            "what is looked for in the bytes that pass, so that requests are counted and connections end between them;"
                    + " `auto` is HTTP/1 and HTTP/2, `tcp` looks at nothing");
    static final Key<OptionalInt> FRONTEND_MAX_CONNECTIONS = Key.optional(
            "max-connections",
            ScalarType.wholeOrNone(IntRange.MAX_CONNECTIONS, "connections"),
            OptionalInt.empty(),
            "the process's limit",
            "client connections at once on this frontend");
    static final Key<Optional<Duration>> IDLE = Key.optional(
            "idle",
            ScalarType.durationOrOff(DurationRange.IDLE),
            Optional.of(Duration.ofHours(1)),
            "1h",
            "a connection ends after this long without progress in either direction");
    static final Key<Optional<Duration>> HALF_CLOSED = Key.optional(
            "half-closed",
            ScalarType.durationOrOff(DurationRange.HALF_CLOSED),
            Optional.of(Duration.ofSeconds(60)),
            "60s",
            "once one side has finished sending, takes the place of `idle`");
    static final Key<Optional<Duration>> UNACKED = Key.optional(
            "unacked",
            ScalarType.durationOrOff(DurationRange.UNACKED),
            Optional.of(Duration.ofMinutes(5)),
            "5m",
            "a connection ends when a peer does not acknowledge sent bytes, or keeps its window closed, for this long;"
                    + " without effect on `nio`");
    static final Key<Values> TIMEOUTS =
            Key.section("timeouts", section(Map.of(), IDLE, HALF_CLOSED, UNACKED), "when a silent connection ends");

    static final Key<Optional<Duration>> MAX_AGE = Key.optional(
            "max-age",
            ScalarType.durationOrOff(DurationRange.MAX_AGE),
            Optional.empty(),
            UNLIMITED,
            "a connection of this age is retired: ended at the next moment that hurts nobody");
    static final Key<Integer> JITTER = Key.optional(
            "jitter",
            ScalarType.share(IntRange.JITTER),
            20,
            "20%",
            "each connection draws its own age from `max-age` × (1 ± jitter), so that those which came together do not go"
                    + " together; never below 5% of `max-age`");
    static final Key<OptionalInt> MAX_REQUESTS = Key.optional(
            "max-requests",
            ScalarType.wholeOrOff(IntRange.MAX_REQUESTS, "requests"),
            OptionalInt.empty(),
            UNLIMITED,
            "a connection that has had so many requests is retired; where no protocol is recognised, each time the client"
                    + " speaks after the endpoint has is one");
    static final Key<OptionalLong> MAX_BYTES = Key.optional(
            "max-bytes",
            ScalarType.sizeOrOff(SizeRange.MAX_BYTES),
            OptionalLong.empty(),
            UNLIMITED,
            "a connection that has carried so much, both directions together, is retired");
    static final Key<Duration> GRACE = Key.optional(
            "grace",
            ScalarType.duration(DurationRange.GRACE),
            Duration.ofMinutes(5),
            "5m",
            "how long a retired connection has to come to such a moment; then it is cut");
    static final Key<Duration> QUIET = Key.optional(
            "quiet",
            ScalarType.duration(DurationRange.QUIET),
            Duration.ofSeconds(5),
            "5s",
            "the least silence that lets a connection be ended whose protocol is not recognised");
    static final Key<Duration> LINGER = Key.optional(
            "linger",
            ScalarType.duration(DurationRange.LINGER),
            Duration.ofSeconds(2),
            "2s",
            "how long a client that was sent FIN has to answer it, once it has taken all bytes");
    static final Key<Values> LIFETIME = Key.section(
            "lifetime",
            section(Map.of(), MAX_AGE, JITTER, MAX_REQUESTS, MAX_BYTES, GRACE, QUIET, LINGER),
            "when a connection that works is brought to its end, and how");

    // backends

    static final Key<String> ENDPOINT_NAME = Key.derived(
            "name",
            ScalarType.text("name", "a name", Names.ENDPOINT_NAME_PATTERN, ConfigKeys::endpointName),
            "the address in canonical form",
            "the endpoint's name in logs, metrics and commands; unique in its backend");
    static final Key<EndpointAddress> ENDPOINT_ADDRESS = Key.required(
            "address",
            ScalarType.text("address", "HOST:PORT, as in 10.0.0.1:8080", "", EndpointAddress::read),
            "where the endpoint is reached: an IP address, IPv6 in brackets, or a name, and a port");
    static final Key<Integer> WEIGHT = Key.optional(
            "weight",
            ScalarType.whole(IntRange.WEIGHT, "share"),
            1,
            "1",
            "its share of new connections beside the others'; 0 takes none and leaves those it has");
    static final Key<OptionalInt> ENDPOINT_MAX_CONNECTIONS = Key.optional(
            "max-connections",
            ScalarType.wholeOrNone(IntRange.MAX_CONNECTIONS, "connections"),
            OptionalInt.empty(),
            "unlimited",
            "connections at once to this endpoint, those under way counted");
    static final Key<String> BACKEND_NAME = Key.required(
            "name",
            ScalarType.text("name", "a name", Names.NAME_PATTERN, ConfigKeys::name),
            "the backend's name in logs, metrics and commands; unique among backends");
    static final Key<Balance> BALANCE = Key.optional(
            "balance",
            ScalarType.oneOf(
                    ScalarType.words(
                            Map.entry("round-robin", Balance.ROUND_ROBIN),
                            Map.entry("random", Balance.RANDOM),
                            Map.entry("least-connections", Balance.LEAST_CONNECTIONS),
                            Map.entry("power-of-two", Balance.POWER_OF_TWO)),
                    Map.of("ewma", LATER, "maglev", LATER)),
            Balance.POWER_OF_TWO,
            "power-of-two",
            "how an endpoint is picked, once for each connection");
    static final Key<List<Located<Values>>> ENDPOINTS = Key.required(
            "endpoints",
            new SectionList(section(Map.of(), ENDPOINT_NAME, ENDPOINT_ADDRESS, WEIGHT, ENDPOINT_MAX_CONNECTIONS)),
            "where the connections of this backend may go; at least one");
    static final Key<Duration> CONNECT_TIMEOUT = Key.optional(
            "timeout",
            ScalarType.duration(DurationRange.CONNECT_TIMEOUT),
            Duration.ofSeconds(2),
            "2s",
            "what one attempt to connect may take");
    static final Key<Integer> ATTEMPTS = Key.optional(
            "attempts",
            ScalarType.whole(IntRange.ATTEMPTS, "attempts"),
            3,
            "3",
            "attempts for one client, the first counted; each goes to another endpoint if there is one");
    static final Key<Duration> CONNECT_DEADLINE = Key.optional(
            "deadline",
            ScalarType.duration(DurationRange.CONNECT_DEADLINE),
            Duration.ofSeconds(5),
            "5s",
            "what all attempts for one client together may take");
    static final Key<ProxyProtocol> PROXY_PROTOCOL = Key.optional(
            "proxy-protocol",
            ScalarType.oneOf(
                    ScalarType.words(
                            Map.entry("off", ProxyProtocol.OFF),
                            Map.entry("v1", ProxyProtocol.V1),
                            Map.entry("v2", ProxyProtocol.V2)),
                    Map.of()),
            ProxyProtocol.OFF,
            "off",
            "the PROXY header sent first, by which the endpoint learns the client's address");
    static final Key<Values> CONNECT = Key.section(
            "connect",
            section(Map.of(), CONNECT_TIMEOUT, ATTEMPTS, CONNECT_DEADLINE, PROXY_PROTOCOL),
            "how an endpoint is reached");

    static final Key<Boolean> ON_JOIN = Key.optional(
            "on-join",
            ScalarType.truth(),
            RebalanceConfig.DEFAULT.onJoin(),
            "false",
            "whether an endpoint that joins, or comes back, takes over what the others have above their fair shares");
    static final Key<Duration> REBALANCE_SPREAD = Key.optional(
            "spread",
            ScalarType.duration(DurationRange.REBALANCE_SPREAD),
            RebalanceConfig.DEFAULT.spread(),
            "2m",
            "each connection that is above begins to end at a moment drawn from this window; `0s` is all at once");
    static final Key<Integer> MAX_SHARE = Key.optional(
            "max-share",
            ScalarType.share(IntRange.MAX_SHARE),
            RebalanceConfig.DEFAULT.maxSharePercent(),
            "110%",
            "how much of its fair share, by weight, an endpoint keeps");
    static final Key<Values> REBALANCE = Key.section(
            "rebalance",
            section(Map.of(), ON_JOIN, REBALANCE_SPREAD, MAX_SHARE),
            "how connections that an endpoint has above its fair share are retired, by itself or by command");

    // the whole

    static final Key<List<Located<String>>> INCLUDE = Key.derived(
            "include",
            new OneOrMany<>(ScalarType.text("path", "a file's path, as in conf.d/*.yaml", "", ConfigKeys::includePath)),
            "none",
            "files whose `frontends` and `backends` are added to this one's, in the order of their names; `*`, `?` and"
                    + " `[…]` work in the last part; relative to this file");
    static final Key<Values> PROCESS = Key.section(
            "process",
            section(Map.of(), WORKERS, TRANSPORT, PROCESS_MAX_CONNECTIONS, STATE_DIR, WARM_UP, SHUTDOWN),
            "what holds for the whole process");
    static final Key<Values> ADMIN =
            Key.section("admin", section(Map.of(), ADMIN_LISTEN, TOKEN_FILE, TLS), "the operator's window");
    static final Key<Values> LOG = Key.section("log", section(Map.of(), LEVEL, ACCESS), "what is logged, and where");
    /** Not required by itself: an included file may bring them. */
    static final Key<List<Located<Values>>> FRONTENDS = Key.derived(
            "frontends",
            new SectionList(section(
                    Map.of(),
                    FRONTEND_NAME,
                    FRONTEND_LISTEN,
                    FRONTEND_BACKEND,
                    PROTOCOL,
                    FRONTEND_MAX_CONNECTIONS,
                    TIMEOUTS,
                    LIFETIME)),
            "at least one, here or in an included file",
            "what clients connect to");

    static final Key<List<Located<Values>>> BACKENDS = Key.derived(
            "backends",
            new SectionList(section(
                    Map.of(),
                    BACKEND_NAME,
                    BALANCE,
                    ENDPOINTS,
                    CONNECT,
                    REBALANCE,
                    HealthKeys.HEALTH,
                    HealthKeys.OUTLIER,
                    HealthKeys.BREAKER,
                    HealthKeys.RETRY_BUDGET,
                    HealthKeys.SLOW_START,
                    HealthKeys.PANIC)),
            "at least one, here or in an included file",
            "where connections go");

    /** The main file. */
    static final Section ROOT = section(Map.of(), INCLUDE, PROCESS, ADMIN, LOG, FRONTENDS, BACKENDS);

    /** An included file. */
    static final Section INCLUDED = section(
            Map.of(
                    "include", MAIN_FILE_ONLY,
                    "process", MAIN_FILE_ONLY,
                    "admin", MAIN_FILE_ONLY,
                    "log", MAIN_FILE_ONLY),
            FRONTENDS,
            BACKENDS);

    private static final Map<String, List<String>> PLACES = places();

    private ConfigKeys() {}

    /** Where a key of this name is known, as paths with {@code []} for lists. */
    static List<String> placesOf(String name) {
        return PLACES.getOrDefault(name, List.of());
    }

    /** A key and its full path, with {@code []} for lists. */
    record Place(String path, Key<?> key) {}

    /** Every key with its place, groups before what is in them. */
    static List<Place> all() {
        List<Place> all = new ArrayList<>();
        collect(ROOT, "", all);
        return all;
    }

    private static void collect(Section section, String prefix, Collection<Place> into) {
        for (Key<?> key : section.keys()) {
            String path = prefix + key.name();
            into.add(new Place(path, key));
            if (key.type() instanceof Section inner) {
                collect(inner, path + ".", into);
            } else if (key.type() instanceof SectionOrOff inner) {
                collect(inner.section(), path + ".", into);
            } else if (key.type() instanceof SectionList list) {
                collect(list.section(), path + "[].", into);
            }
        }
    }

    private static Map<String, List<String>> places() {
        Map<String, List<String>> places = new LinkedHashMap<>();
        for (Place place : all()) {
            places.computeIfAbsent(place.key().name(), name -> new ArrayList<>())
                    .add(place.path());
        }
        return places;
    }

    private static Section section(Map<String, String> refusals, Key<?>... keys) {
        return new Section(List.of(keys), refusals);
    }

    private static String name(String text) throws InvalidValue {
        Names.checkName(text);
        return text;
    }

    private static String endpointName(String text) throws InvalidValue {
        Names.checkEndpointName(text);
        return text;
    }

    private static String accessLogPath(String text) throws InvalidValue {
        AccessLogConfig.checkPath(text);
        return text;
    }

    private static String includePath(String text) throws InvalidValue {
        if (text.isEmpty() || text.endsWith("/") || text.chars().anyMatch(Character::isISOControl)) {
            throw new InvalidValue(Text.quote(text) + " names no file", "write a file's path, as in conf.d/*.yaml");
        }
        return text;
    }

    private static ListenAddress frontendAddress(String text) throws InvalidValue {
        ListenAddress address = ListenAddresses.read(text);
        if (address instanceof ListenAddress.Unix) {
            throw new InvalidValue(
                    Text.quote(text) + ": frontends listen on TCP only in this version",
                    "write HOST:PORT, as in 127.0.0.1:8080");
        }
        return address;
    }

    private static String directory(String text) throws InvalidValue {
        Paths.checkDirectory(text);
        return text;
    }
}
