package dev.tidegate.config;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A configuration as the file that says the same, every effective value written out: maps, lists, texts, whole numbers and truth values,
 * in the configuration's own keys and words. Written as JSON it can be read back, and gives an equal configuration. Of
 * secrets it has the paths, since that is all a configuration has. A key whose absence no word stands for (a limit that
 * there is not, a path that the environment gives) is left out. Stateless; any thread.
 */
public final class ConfigDocument {
    private static final String OFF = "off";

    private ConfigDocument() {}

    /**
     * Writes it out.
     *
     * @return a map that nobody else has; keys in the order of the reference table
     */
    public static Map<String, Object> of(Config config) {
        Map<String, Object> root = new LinkedHashMap<>();
        root.put(ConfigKeys.PROCESS.name(), process(config.process()));
        Map<String, Object> admin = admin(config.admin());
        if (!admin.isEmpty()) {
            root.put(ConfigKeys.ADMIN.name(), admin);
        }
        root.put(ConfigKeys.LOG.name(), log(config.log()));
        root.put(
                ConfigKeys.FRONTENDS.name(),
                config.frontends().stream().map(ConfigDocument::frontend).toList());
        root.put(
                ConfigKeys.BACKENDS.name(),
                config.backends().stream().map(ConfigDocument::backend).toList());
        return root;
    }

    private static Map<String, Object> process(ProcessConfig process) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(ConfigKeys.WORKERS.name(), orAuto(process.workers()));
        // io_uring is the one word with an underscore.
        map.put(ConfigKeys.TRANSPORT.name(), process.transport().name().toLowerCase(Locale.ROOT));
        map.put(ConfigKeys.PROCESS_MAX_CONNECTIONS.name(), orAuto(process.maxConnections()));
        process.stateDir().ifPresent(path -> map.put(ConfigKeys.STATE_DIR.name(), text(path)));
        map.put(ConfigKeys.WARM_UP.name(), orOff(process.warmUp()));
        Map<String, Object> shutdown = new LinkedHashMap<>();
        shutdown.put(
                ConfigKeys.SHUTDOWN_DEADLINE.name(),
                Durations.format(process.shutdown().deadline()));
        shutdown.put(
                ConfigKeys.SHUTDOWN_SPREAD.name(),
                Durations.format(process.shutdown().spread()));
        shutdown.put(
                ConfigKeys.LAME_DUCK.name(), Durations.format(process.shutdown().lameDuck()));
        map.put(ConfigKeys.SHUTDOWN.name(), shutdown);
        return map;
    }

    private static Map<String, Object> admin(AdminConfig admin) {
        Map<String, Object> map = new LinkedHashMap<>();
        if (!admin.listen().isEmpty()) {
            map.put(ConfigKeys.ADMIN_LISTEN.name(), addresses(admin.listen()));
        }
        admin.tokenFile().ifPresent(path -> map.put(ConfigKeys.TOKEN_FILE.name(), text(path)));
        admin.tls().ifPresent(tls -> {
            Map<String, Object> files = new LinkedHashMap<>();
            files.put(ConfigKeys.CERTIFICATE.name(), text(tls.certificate()));
            files.put(ConfigKeys.PRIVATE_KEY.name(), text(tls.key()));
            tls.clientCa().ifPresent(path -> files.put(ConfigKeys.CLIENT_CA.name(), text(path)));
            map.put(ConfigKeys.TLS.name(), files);
        });
        return map;
    }

    private static Map<String, Object> log(LogConfig log) {
        Map<String, Object> access = new LinkedHashMap<>();
        access.put(ConfigKeys.ACCESS_PATH.name(), text(log.access().path()));
        access.put(ConfigKeys.ACCESS_FORMAT.name(), word(log.access().format()));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(ConfigKeys.LEVEL.name(), word(log.level()));
        map.put(ConfigKeys.ACCESS.name(), access);
        return map;
    }

    private static Map<String, Object> frontend(FrontendConfig frontend) {
        Map<String, Object> timeouts = new LinkedHashMap<>();
        timeouts.put(ConfigKeys.IDLE.name(), orOff(frontend.timeouts().idle()));
        timeouts.put(ConfigKeys.HALF_CLOSED.name(), orOff(frontend.timeouts().halfClosed()));
        timeouts.put(ConfigKeys.UNACKED.name(), orOff(frontend.timeouts().unacked()));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(ConfigKeys.FRONTEND_NAME.name(), frontend.name());
        map.put(ConfigKeys.FRONTEND_LISTEN.name(), addresses(frontend.listen()));
        map.put(ConfigKeys.FRONTEND_BACKEND.name(), frontend.backend());
        map.put(ConfigKeys.PROTOCOL.name(), word(frontend.protocol()));
        frontend.maxConnections().ifPresent(max -> map.put(ConfigKeys.FRONTEND_MAX_CONNECTIONS.name(), max));
        map.put(ConfigKeys.TIMEOUTS.name(), timeouts);
        map.put(ConfigKeys.LIFETIME.name(), lifetime(frontend.lifetime()));
        return map;
    }

    private static Map<String, Object> lifetime(LifetimeConfig lifetime) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(ConfigKeys.MAX_AGE.name(), orOff(lifetime.maxAge()));
        map.put(ConfigKeys.JITTER.name(), lifetime.jitterPercent() + "%");
        map.put(
                ConfigKeys.MAX_REQUESTS.name(),
                lifetime.maxRequests().isPresent()
                        ? (Object) lifetime.maxRequests().getAsInt()
                        : OFF);
        map.put(
                ConfigKeys.MAX_BYTES.name(),
                lifetime.maxBytes().isPresent()
                        ? Sizes.format(lifetime.maxBytes().getAsLong())
                        : OFF);
        map.put(ConfigKeys.GRACE.name(), Durations.format(lifetime.grace()));
        map.put(ConfigKeys.QUIET.name(), Durations.format(lifetime.quiet()));
        map.put(ConfigKeys.LINGER.name(), Durations.format(lifetime.linger()));
        return map;
    }

    private static Map<String, Object> backend(BackendConfig backend) {
        Map<String, Object> connect = new LinkedHashMap<>();
        connect.put(
                ConfigKeys.CONNECT_TIMEOUT.name(),
                Durations.format(backend.connect().timeout()));
        connect.put(ConfigKeys.ATTEMPTS.name(), backend.connect().attempts());
        connect.put(
                ConfigKeys.CONNECT_DEADLINE.name(),
                Durations.format(backend.connect().deadline()));
        connect.put(ConfigKeys.PROXY_PROTOCOL.name(), word(backend.connect().proxyProtocol()));
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(ConfigKeys.BACKEND_NAME.name(), backend.name());
        map.put(ConfigKeys.BALANCE.name(), word(backend.balance()));
        map.put(
                ConfigKeys.ENDPOINTS.name(),
                backend.endpoints().stream().map(ConfigDocument::endpoint).toList());
        map.put(ConfigKeys.CONNECT.name(), connect);
        Map<String, Object> rebalance = new LinkedHashMap<>();
        rebalance.put(ConfigKeys.ON_JOIN.name(), backend.rebalance().onJoin());
        rebalance.put(
                ConfigKeys.REBALANCE_SPREAD.name(),
                Durations.format(backend.rebalance().spread()));
        rebalance.put(ConfigKeys.MAX_SHARE.name(), backend.rebalance().maxSharePercent() + "%");
        map.put(ConfigKeys.REBALANCE.name(), rebalance);
        HealthDocument.put(backend, map);
        return map;
    }

    private static Map<String, Object> endpoint(EndpointConfig endpoint) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(ConfigKeys.ENDPOINT_NAME.name(), endpoint.name());
        map.put(ConfigKeys.ENDPOINT_ADDRESS.name(), endpoint.address().toString());
        map.put(ConfigKeys.WEIGHT.name(), endpoint.weight());
        endpoint.maxConnections().ifPresent(max -> map.put(ConfigKeys.ENDPOINT_MAX_CONNECTIONS.name(), max));
        return map;
    }

    private static List<String> addresses(List<ListenAddress> addresses) {
        return addresses.stream().map(address -> text(address.toString())).toList();
    }

    /** Free text, in which a dollar sign before a brace is not meant for a variable. */
    static String text(String value) {
        return value.replace("${", "$${");
    }

    private static Object orAuto(OptionalInt number) {
        return number.isPresent() ? (Object) number.getAsInt() : "auto";
    }

    private static String orOff(Optional<Duration> duration) {
        return duration.map(Durations::format).orElse(OFF);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
