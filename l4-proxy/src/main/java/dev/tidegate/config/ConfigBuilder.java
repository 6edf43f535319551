package dev.tidegate.config;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Values to records, once there is no error. Stateless. */
final class ConfigBuilder {
    private static final Duration SPREAD_MAX_BY_DEFAULT = Duration.ofSeconds(10);

    private ConfigBuilder() {}

    static Config config(Values root, List<Located<Values>> frontends, List<Located<Values>> backends) {
        return new Config(
                process(root.get(ConfigKeys.PROCESS)),
                admin(root.get(ConfigKeys.ADMIN)),
                log(root.get(ConfigKeys.LOG)),
                frontends.stream().map(frontend -> frontend(frontend.value())).toList(),
                backends.stream().map(backend -> backend(backend.value())).toList());
    }

    private static ProcessConfig process(Values process) {
        Values shutdown = process.get(ConfigKeys.SHUTDOWN);
        Duration deadline = shutdown.get(ConfigKeys.SHUTDOWN_DEADLINE);
        return new ProcessConfig(
                process.get(ConfigKeys.WORKERS),
                process.get(ConfigKeys.TRANSPORT),
                process.get(ConfigKeys.PROCESS_MAX_CONNECTIONS),
                process.value(ConfigKeys.STATE_DIR),
                process.get(ConfigKeys.WARM_UP),
                new ShutdownConfig(
                        deadline,
                        shutdown.value(ConfigKeys.SHUTDOWN_SPREAD).orElse(defaultSpread(deadline)),
                        shutdown.get(ConfigKeys.LAME_DUCK)));
    }

    private static Duration defaultSpread(Duration deadline) {
        // In whole milliseconds, so that a file can say it.
        Duration half = Duration.ofMillis(deadline.toMillis() / 2);
        return half.compareTo(SPREAD_MAX_BY_DEFAULT) < 0 ? half : SPREAD_MAX_BY_DEFAULT;
    }

    private static AdminConfig admin(Values admin) {
        return new AdminConfig(
                addresses(admin.given(ConfigKeys.ADMIN_LISTEN)),
                admin.value(ConfigKeys.TOKEN_FILE),
                admin.value(ConfigKeys.TLS)
                        .map(tls -> new AdminTlsConfig(
                                tls.get(ConfigKeys.CERTIFICATE),
                                tls.get(ConfigKeys.PRIVATE_KEY),
                                tls.value(ConfigKeys.CLIENT_CA))));
    }

    private static LogConfig log(Values log) {
        Values access = log.get(ConfigKeys.ACCESS);
        return new LogConfig(
                log.get(ConfigKeys.LEVEL),
                new AccessLogConfig(access.get(ConfigKeys.ACCESS_PATH), access.get(ConfigKeys.ACCESS_FORMAT)));
    }

    private static FrontendConfig frontend(Values frontend) {
        Values timeouts = frontend.get(ConfigKeys.TIMEOUTS);
        return new FrontendConfig(
                frontend.get(ConfigKeys.FRONTEND_NAME),
                addresses(frontend.given(ConfigKeys.FRONTEND_LISTEN)),
                frontend.get(ConfigKeys.FRONTEND_BACKEND),
                frontend.get(ConfigKeys.PROTOCOL),
                frontend.get(ConfigKeys.FRONTEND_MAX_CONNECTIONS),
                new TimeoutsConfig(
                        timeouts.get(ConfigKeys.IDLE),
                        timeouts.get(ConfigKeys.HALF_CLOSED),
                        timeouts.get(ConfigKeys.UNACKED)),
                lifetime(frontend.get(ConfigKeys.LIFETIME)));
    }

    private static LifetimeConfig lifetime(Values lifetime) {
        return new LifetimeConfig(
                lifetime.get(ConfigKeys.MAX_AGE),
                lifetime.get(ConfigKeys.JITTER),
                lifetime.get(ConfigKeys.MAX_REQUESTS),
                lifetime.get(ConfigKeys.MAX_BYTES),
                lifetime.get(ConfigKeys.GRACE),
                lifetime.get(ConfigKeys.QUIET),
                lifetime.get(ConfigKeys.LINGER));
    }

    private static BackendConfig backend(Values backend) {
        Values connect = backend.get(ConfigKeys.CONNECT);
        return new BackendConfig(
                backend.get(ConfigKeys.BACKEND_NAME),
                backend.get(ConfigKeys.BALANCE),
                backend.get(ConfigKeys.ENDPOINTS).stream()
                        .map(endpoint -> endpoint(endpoint.value()))
                        .toList(),
                new ConnectConfig(
                        connect.get(ConfigKeys.CONNECT_TIMEOUT),
                        connect.get(ConfigKeys.ATTEMPTS),
                        connect.get(ConfigKeys.CONNECT_DEADLINE),
                        connect.get(ConfigKeys.PROXY_PROTOCOL)),
                rebalance(backend.get(ConfigKeys.REBALANCE)),
                backend.get(HealthKeys.HEALTH).map(HealthBuilder::health),
                backend.get(HealthKeys.OUTLIER).map(HealthBuilder::outlier),
                backend.get(HealthKeys.BREAKER).map(HealthBuilder::breaker),
                backend.get(HealthKeys.RETRY_BUDGET).map(HealthBuilder::retryBudget),
                backend.get(HealthKeys.SLOW_START).map(HealthBuilder::slowStart),
                backend.get(HealthKeys.PANIC).map(HealthBuilder::panic).orElse(PanicConfig.NEVER));
    }

    private static RebalanceConfig rebalance(Values rebalance) {
        return new RebalanceConfig(
                rebalance.get(ConfigKeys.ON_JOIN),
                rebalance.get(ConfigKeys.REBALANCE_SPREAD),
                rebalance.get(ConfigKeys.MAX_SHARE));
    }

    private static EndpointConfig endpoint(Values endpoint) {
        EndpointAddress address = endpoint.get(ConfigKeys.ENDPOINT_ADDRESS);
        return new EndpointConfig(
                endpoint.value(ConfigKeys.ENDPOINT_NAME).orElse(address.toString()),
                address,
                endpoint.get(ConfigKeys.WEIGHT),
                endpoint.get(ConfigKeys.ENDPOINT_MAX_CONNECTIONS));
    }

    private static List<ListenAddress> addresses(Optional<Located<List<Located<ListenAddress>>>> given) {
        return given.map(list -> list.value().stream().map(Located::value).toList())
                .orElse(List.of());
    }
}
