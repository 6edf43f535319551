package dev.tidegate.config;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A named set of endpoints with one balancing policy. Immutable.
 *
 * @param name unique among backends
 * @param balance how an endpoint is picked
 * @param endpoints at least one; names and addresses distinct
 * @param connect how an endpoint is dialed
 * @param rebalance what becomes of connections that an endpoint has above its fair share
 * @param health how endpoints are checked; empty: they are not, and are always up
 * @param outlier when an endpoint is ejected; empty: never
 * @param breaker when an endpoint is no longer dialed; empty: it always is
 * @param retryBudget how many further attempts there may be; empty: as many as {@code connect} allows
 * @param slowStart how the share of a new endpoint grows; empty: it is whole at once
 * @param panic what happens when too few endpoints are fit
 */
public record BackendConfig(
        String name,
        Balance balance,
        List<EndpointConfig> endpoints,
        ConnectConfig connect,
        RebalanceConfig rebalance,
        Optional<HealthConfig> health,
        Optional<OutlierConfig> outlier,
        Optional<BreakerConfig> breaker,
        Optional<RetryBudgetConfig> retryBudget,
        Optional<SlowStartConfig> slowStart,
        PanicConfig panic) {
    /** A backend with what holds where nothing is said of health. */
    public BackendConfig(
            String name,
            Balance balance,
            List<EndpointConfig> endpoints,
            ConnectConfig connect,
            RebalanceConfig rebalance) {
        this(
                name,
                balance,
                endpoints,
                connect,
                rebalance,
                Optional.empty(),
                Optional.of(OutlierConfig.DEFAULT),
                Optional.empty(),
                Optional.of(RetryBudgetConfig.DEFAULT),
                Optional.empty(),
                PanicConfig.DEFAULT);
    }

    /**
     * Copies the list and checks it.
     *
     * @throws IllegalArgumentException if the name is malformed, there is no endpoint, or two share a name or address
     */
    public BackendConfig {
        Names.requireName(name);
        Objects.requireNonNull(balance, "balance");
        endpoints = List.copyOf(endpoints);
        Objects.requireNonNull(connect, "connect");
        Objects.requireNonNull(rebalance, "rebalance");
        Objects.requireNonNull(panic, "panic");
        Config.requireDistinct(
                "endpoint", endpoints.stream().map(EndpointConfig::name).toList());
        Set<EndpointAddress> seen = new HashSet<>();
        for (EndpointConfig endpoint : endpoints) {
            if (!seen.add(endpoint.address())) {
                throw new IllegalArgumentException(
                        "backend " + Text.quote(name) + ": address " + endpoint.address() + " is used twice");
            }
        }
    }

    /** How an endpoint is picked. */
    public enum Balance {
        /** In turn, smoothly by weight. */
        ROUND_ROBIN,
        /** At random, by weight. */
        RANDOM,
        /** The least loaded of all. */
        LEAST_CONNECTIONS,
        /** The less loaded of two drawn by weight. */
        POWER_OF_TWO
    }
}
