package dev.tidegate.proxy;

import static dev.tidegate.proxy.ReloadFixture.assertEchoes;
import static dev.tidegate.proxy.ReloadFixture.connectTo;
import static dev.tidegate.proxy.ReloadFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.named;
import static dev.tidegate.proxy.ReloadFixture.yaml;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.LifetimeView;
import dev.tidegate.control.ConfigDiff;
import dev.tidegate.control.ReloadResult;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.telemetry.ReloadCounts.Result;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the file says about lifetimes holds, is shown, and changes with a reload. */
class LifetimeInForceTest {
    private static final long SECOND = 1_000_000_000L;

    private static String front(int port, String more) {
        return "[{name: front, listen: \"127.0.0.1:" + port + "\", backend: back" + more + "}]";
    }

    @Test
    @Tag("slow")
    void aLifetimeHoldsIsShownAndChangesUnderConnectionsThatGoOn() throws Exception {
        int port = ReloadFixture.port();
        try (var a = named("a");
                var proxy = ReloadFixture.start(Wish.NIO, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            OperatorFixture operator = new OperatorFixture(proxy.proxy());
            assertEquals(
                    Lifetime.DEFAULT, proxy.proxy().snapshot().frontend("front").lifetime());
            FrontendView before = operator.frontendNow("front");
            assertEquals("auto", before.protocol());
            assertEquals(new LifetimeView(null, 0.2, null, null, 300_000, 5_000, 2_000), before.lifetime());

            ReloadResult result = proxy.reload(yaml(
                    front(
                            port,
                            ", protocol: tcp, lifetime: {max-age: 1h, jitter: 7%, max-requests: 1000, max-bytes: 1GiB,"
                                    + " grace: 1m, quiet: 250ms, linger: 1s}"),
                    "round-robin",
                    endpoint("a", a)));

            assertEquals(Result.APPLIED, result.result());
            assertEquals(
                    List.of(
                            "change frontends.front.protocol from auto to tcp",
                            "change frontends.front.lifetime.max-age from off to 1h",
                            "change frontends.front.lifetime.jitter from 20% to 7%",
                            "change frontends.front.lifetime.max-requests from off to 1000",
                            "change frontends.front.lifetime.max-bytes from off to 1GiB",
                            "change frontends.front.lifetime.grace from 5m to 1m",
                            "change frontends.front.lifetime.quiet from 5s to 250ms",
                            "change frontends.front.lifetime.linger from 2s to 1s"),
                    result.diff().changes().stream()
                            .map(ConfigDiff.Change::toString)
                            .toList());
            assertEquals(
                    new Lifetime(3_600 * SECOND, 0.07, 1_000, 1L << 30, 60 * SECOND, SECOND / 4, SECOND),
                    proxy.proxy().snapshot().frontend("front").lifetime());
            assertEquals(
                    ProtocolChoice.TCP,
                    proxy.proxy().snapshot().frontend("front").protocol());
            FrontendView after = operator.frontendNow("front");
            assertEquals("tcp", after.protocol());
            assertEquals(new LifetimeView(3_600_000L, 0.07, 1_000L, 1L << 30, 60_000, 250, 1_000), after.lifetime());
            assertEquals(
                    List.of("tcp", "http1", "http2"),
                    List.copyOf(after.requests().keySet()));
            assertEchoes(client);
        }
    }

    /** Its connections are those of before, and stay if it comes back soon. */
    @Test
    @Tag("slow")
    void aFrontendThatComesBackHasItsNewLimitsHoldForTheConnectionsOfBefore() throws Exception {
        int port = ReloadFixture.port();
        int otherPort = ReloadFixture.port();
        String other = "[{name: other, listen: \"127.0.0.1:" + otherPort + "\", backend: back}]";
        try (var a = named("a");
                var proxy = ReloadFixture.start(Wish.NIO, yaml(port, endpoint("a", a)));
                var client = connectTo(port, "a")) {
            assertEchoes(client);
            proxy.reload(yaml(other, "round-robin", endpoint("a", a)));

            proxy.reload(yaml(
                    front(port, ", lifetime: {max-requests: 3, quiet: 50ms, linger: 10ms}"),
                    "round-robin",
                    endpoint("a", a)));
            assertEchoes(client);
            assertEchoes(client);

            assertEquals(CloseReason.MAX_REQUESTS, proxy.awaitRecord(0).reason);
        }
    }
}
