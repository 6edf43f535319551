package dev.tidegate.control;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.ConnectConfig.ProxyProtocol;
import dev.tidegate.config.HealthConfig;
import dev.tidegate.health.CheckPlan;
import dev.tidegate.health.Condition;
import dev.tidegate.health.ProbeContext;
import dev.tidegate.health.Target;
import dev.tidegate.health.Target.Greeting;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** Makes what is checked of what the configuration says and of where endpoints are now. Pure; any thread. */
final class Targets {
    private Targets() {}

    /** What an endpoint is known by: the same for the same backend and address, over every reload. */
    static String id(EndpointCell cell) {
        return cell.backend() + "/" + cell.address();
    }

    /**
     * What is checked of an endpoint.
     *
     * @param id what its checks are known by as long as they go on
     * @param start what it was when they began
     */
    static Target of(BackendConfig backend, HealthConfig health, Endpoint endpoint, String id, Condition start) {
        EndpointCell cell = endpoint.cell();
        List<InetSocketAddress> addresses = cell.addresses().stream()
                .map(own -> checked(health, own))
                .distinct()
                .toList();
        return new Target(
                id,
                new ProbeContext.Subject(backend.name(), endpoint.name(), cell.address()),
                addresses,
                health.source().map(source -> new InetSocketAddress(source, 0)).orElse(null),
                greeting(backend, health),
                plan(health, start));
    }

    private static InetSocketAddress checked(HealthConfig health, InetSocketAddress own) {
        int port = health.port().orElse(own.getPort());
        return health.address()
                .map(host -> new InetSocketAddress(NetUtil.createInetAddressFromIpAddressString(host), port))
                .orElseGet(() -> new InetSocketAddress(own.getAddress(), port));
    }

    /** Who is asked elsewhere than where connections go is not asked in their way. */
    private static Greeting greeting(BackendConfig backend, HealthConfig health) {
        if (health.port().isPresent() || health.address().isPresent()) {
            return Greeting.NONE;
        }
        ProxyProtocol header = backend.connect().proxyProtocol();
        return switch (header) {
            case OFF -> Greeting.NONE;
            case V1 -> Greeting.PROXY_V1;
            case V2 -> Greeting.PROXY_V2;
        };
    }

    private static CheckPlan plan(HealthConfig health, Condition start) {
        return new CheckPlan(
                Probes.of(health.check()),
                health.interval().toNanos(),
                health.fastInterval().toNanos(),
                health.timeout().toNanos(),
                health.jitterPercent(),
                health.rise(),
                health.fall(),
                start,
                health.maxHoldDown().map(Duration::toNanos).orElse(0L));
    }
}
