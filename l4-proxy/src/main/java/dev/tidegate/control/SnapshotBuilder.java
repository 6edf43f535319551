package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.ConnectConfig;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.LifetimeConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.config.TimeoutsConfig;
import dev.tidegate.fitness.Judge;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Snapshot;
import dev.tidegate.model.Timeouts;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Makes a snapshot of a valid configuration, reusing cells. Confined to control's thread. */
final class SnapshotBuilder {
    private final Cells cells;
    private final int processMaxConnections;
    private final Judge judge;
    private final Ticker ticker;

    /**
     * @param cells what outlives snapshots
     * @param processMaxConnections what a frontend without a limit of its own has
     * @param judge whose watches are kept on endpoints
     * @param ticker monotonic time
     */
    SnapshotBuilder(Cells cells, int processMaxConnections, Judge judge, Ticker ticker) {
        this.cells = cells;
        this.processMaxConnections = processMaxConnections;
        this.judge = judge;
        this.ticker = ticker;
    }

    Snapshot build(long generation, Config config, RuntimeState runtime) {
        Map<String, Backend> backends = new LinkedHashMap<>();
        config.backends().forEach(backend -> backends.put(backend.name(), backend(backend, runtime)));
        List<Frontend> frontends = new ArrayList<>();
        config.frontends().forEach(frontend -> frontends.add(frontend(frontend, backends.get(frontend.backend()))));
        return new Snapshot(generation, frontends, List.copyOf(backends.values()));
    }

    private Frontend frontend(FrontendConfig config, Backend backend) {
        return new Frontend(
                config.name(),
                config.listen().stream().map(ListenAddress::toString).toList(),
                backend,
                protocol(config.protocol()),
                config.maxConnections().orElse(processMaxConnections),
                timeouts(config.timeouts()),
                lifetime(config.lifetime()),
                cells.frontend(config.name()));
    }

    private Backend backend(BackendConfig config, RuntimeState runtime) {
        BalancePolicy policy =
                switch (config.balance()) {
                    case ROUND_ROBIN -> BalancePolicy.ROUND_ROBIN;
                    case RANDOM -> BalancePolicy.RANDOM;
                    case LEAST_CONNECTIONS -> BalancePolicy.LEAST_CONNECTIONS;
                    case POWER_OF_TWO -> BalancePolicy.POWER_OF_TWO;
                };
        List<Endpoint> endpoints = runtime.endpoints(config).stream()
                .map(endpoint -> endpoint(config.name(), endpoint, runtime))
                .toList();
        BackendCell cell = cells.backend(config.name());
        return new Backend(
                cell,
                policy,
                cells.picker(config.name(), policy),
                new EndpointList(endpoints, cell),
                connect(config.connect()),
                cells.retries(config.name(), config.retryBudget(), ticker.nanoTime()),
                judge.watch(config.name(), FitnessPolicies.of(config)));
    }

    private Endpoint endpoint(String backend, EndpointConfig config, RuntimeState runtime) {
        // A literal never goes to DNS: InetSocketAddress parses it. A name is unresolved until the name watch says
        // more.
        List<InetSocketAddress> resolved = config.address().literal()
                ? List.of(new InetSocketAddress(
                        config.address().host(), config.address().port()))
                : List.of();
        EndpointCell cell = cells.endpoint(backend, config.address().toString(), resolved);
        EndpointId id = EndpointId.of(backend, config.address());
        Optional<RuntimeState.Weight> weight = runtime.endpoint(id).weight();
        return new Endpoint(
                config.name(),
                weight.map(RuntimeState.Weight::value).orElse(config.weight()),
                config.maxConnections().orElse(Integer.MAX_VALUE),
                cell,
                new Endpoint.Origin(
                        config.weight(), weight.isPresent(), runtime.added().containsKey(id)));
    }

    private static ConnectPolicy connect(ConnectConfig config) {
        ProxyProtocol header =
                switch (config.proxyProtocol()) {
                    case OFF -> ProxyProtocol.OFF;
                    case V1 -> ProxyProtocol.V1;
                    case V2 -> ProxyProtocol.V2;
                };
        return new ConnectPolicy(
                config.timeout().toNanos(), config.attempts(), config.deadline().toNanos(), header);
    }

    private static ProtocolChoice protocol(FrontendConfig.Protocol protocol) {
        return switch (protocol) {
            case AUTO -> ProtocolChoice.AUTO;
            case TCP -> ProtocolChoice.TCP;
            case HTTP1 -> ProtocolChoice.HTTP1;
            case HTTP2 -> ProtocolChoice.HTTP2;
        };
    }

    static Lifetime lifetime(LifetimeConfig config) {
        return new Lifetime(
                config.maxAge().map(Duration::toNanos).orElse(Lifetime.UNLIMITED),
                config.jitterPercent() / 100.0,
                config.maxRequests().isPresent() ? config.maxRequests().getAsInt() : Lifetime.UNLIMITED,
                config.maxBytes().orElse(Lifetime.UNLIMITED),
                config.grace().toNanos(),
                config.quiet().toNanos(),
                config.linger().toNanos());
    }

    static Timeouts timeouts(TimeoutsConfig config) {
        return new Timeouts(
                config.idle().map(Duration::toNanos).orElse(Timeouts.OFF),
                config.halfClosed().map(Duration::toNanos).orElse(Timeouts.OFF),
                (int) Math.min(
                        Integer.MAX_VALUE,
                        config.unacked().map(Duration::toMillis).orElse(0L)));
    }
}
