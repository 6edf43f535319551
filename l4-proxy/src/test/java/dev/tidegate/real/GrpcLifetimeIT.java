package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** gRPC calls over connections whose lives are short: none fails, and nearly all connections leave by GOAWAY. */
@Tag("clock")
class GrpcLifetimeIT {
    private static final Duration SHORT = Duration.ofSeconds(5);
    private static final Duration LONG = Duration.ofMinutes(10);

    @EachTransport
    @Tag("slow")
    void noCallFailsWhenConnectionsLiveForHalfASecond(Wish transport) throws Exception {
        noCallFails(transport, "max-age: 500ms", List.of(CloseReason.MAX_AGE), SHORT, 1_500, true);
    }

    @EachTransport
    @Tag("slow")
    void noCallFailsWhenConnectionsCarryAHundredRequests(Wish transport) throws Exception {
        noCallFails(
                transport, "max-requests: 100", List.of(CloseReason.MAX_REQUESTS), Duration.ofSeconds(3), 1_500, true);
    }

    @EachTransport
    @Tag("slow")
    void withoutRetriesOnlyCallsThatNoEndpointSawMayFail(Wish transport) throws Exception {
        noCallFails(
                transport, "max-requests: 100", List.of(CloseReason.MAX_REQUESTS), Duration.ofSeconds(2), 1_500, false);
    }

    @EachTransport
    @Tag("nightly")
    void noCallFailsInTenMinutesOfShortLives(Wish transport) throws Exception {
        // How fast the machine is decides which of the two comes first.
        List<CloseReason> either = List.of(CloseReason.MAX_AGE, CloseReason.MAX_REQUESTS);
        noCallFails(transport, "max-age: 1s, max-requests: 500", either, LONG, 100_000, true);
    }

    private static void noCallFails(
            Wish transport, String limits, List<CloseReason> reasons, Duration time, long leastCalls, boolean retries)
            throws Exception {
        try (var one = GrpcService.start();
                var two = GrpcService.start();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"" + one.hostPort() + "\"}")
                        .endpoint("{address: \"" + two.hostPort() + "\"}")
                        .frontend("lifetime: {" + limits + ", grace: 20s}")
                        .start()) {
            long calls;
            List<GrpcCrowd.Failure> failures;
            try (var crowd = GrpcCrowd.start(proxy.address(), 3, retries, 1)) {
                long until = System.nanoTime() + time.toNanos();
                Await.until(
                        "the time is over, and on a busy machine as many calls made as say something",
                        time.plusSeconds(90),
                        () -> System.nanoTime() - until >= 0 && crowd.done() >= leastCalls);
                crowd.stop();
                calls = crowd.done();
                failures = crowd.failures();
            }
            proxy.awaitNoConnections();
            long retired = retired(proxy, reasons, RetireHow.GOAWAY);
            long otherwise = retired(proxy, reasons, RetireHow.CUT) + retired(proxy, reasons, RetireHow.QUIET);
            System.out.println(transport + " " + limits + ": calls=" + calls + " failed=" + failures.size()
                    + " retired=" + retired + " otherwise=" + otherwise);

            if (retries) {
                assertEquals(List.of(), failures);
            } else {
                for (GrpcCrowd.Failure failure : failures) {
                    assertTrue(!one.saw(failure.call()) && !two.saw(failure.call()), failure::toString);
                }
            }
            assertTrue(calls >= leastCalls, () -> "only " + calls + " calls");
            assertTrue(retired >= 10, () -> "only " + retired + " connections were retired");
            assertTrue(otherwise * 99 <= retired, () -> otherwise + " ended in another way than by GOAWAY");
        }
    }

    private static long retired(ProxyFixture proxy, List<CloseReason> reasons, RetireHow how) {
        return reasons.stream()
                .mapToLong(reason -> proxy.sum(row -> row.retired(reason, how)))
                .sum();
    }
}
