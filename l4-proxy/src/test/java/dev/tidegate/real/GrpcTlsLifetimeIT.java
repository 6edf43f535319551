package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * gRPC over TLS, of which nothing can be read: connections end in a rest of their clients, and where there is none, at the hard
 * limit.
 *
 * <p>The load: all callers of a channel call without a pause for 2 s, and then rest for 4 s, as clients do whose own users do.
 * A rest has to be longer than ten times the longest pause that the answers have shown, or a call may cross the end.
 */
@Tag("clock")
class GrpcTlsLifetimeIT {
    private static final Duration WORK = Duration.ofSeconds(2);
    private static final Duration REST = Duration.ofSeconds(4);

    @TempDir
    static Path directory;

    private static SelfSigned pair;

    @BeforeAll
    static void makePair() throws Exception {
        pair = SelfSigned.in(directory);
    }

    @Test
    @Tag("slow")
    void noCallFailsWhereClientsRest() throws Exception {
        Sums sums = run(Wish.EPOLL, "1s", Duration.ofSeconds(11), 8, 12);
        assertEquals(List.of(), sums.failures());
    }

    /**
     * In a long run a client speaks now and then in the very moment in which its connection is ended: what crosses a FIN has
     * reached nobody, as with any server that closes idle connections. No call that an endpoint has seen fails.
     */
    @EachTransport
    @Tag("nightly")
    void noCallThatReachedAnEndpointFailsInMinutesWhereClientsRest(Wish transport) throws Exception {
        Sums sums = run(transport, "5s", Duration.ofMinutes(5), 16, 300);
        int callers = 4; // of one connection, which begin at one moment after a rest
        assertTrue(sums.failures().size() * 200L <= sums.quiet() * callers, sums::toString);
    }

    private static Sums run(Wish transport, String maxAge, Duration time, int channels, long leastRetired)
            throws Exception {
        try (var one = GrpcService.start(pair);
                var two = GrpcService.start(pair);
                var proxy = proxy(transport, one, two, "{max-age: " + maxAge + ", quiet: 500ms, grace: 30s}")) {
            Sums sums = run(proxy, channels, WORK, REST, time);
            long seen = sums.failures().stream()
                    .filter(failure -> one.saw(failure.call()) || two.saw(failure.call()))
                    .count();
            System.out.println(transport + " gRPC over TLS, clients that rest: " + sums + ", of the failed calls an"
                    + " endpoint has seen " + seen);

            assertEquals(0, seen, "failed calls that an endpoint has seen");
            assertTrue(sums.quiet() >= leastRetired, () -> "only " + sums.quiet() + " connections were retired");
            assertTrue(sums.cut() * 99 <= sums.quiet(), () -> sums.cut() + " were cut");
            return sums;
        }
    }

    /** What the documentation says of it: who never rests is cut at the hard limit, and the calls under way fail. */
    @Test
    @Tag("slow")
    void whoNeverRestsIsCutAtTheHardLimit() throws Exception {
        try (var one = GrpcService.start(pair);
                var two = GrpcService.start(pair);
                var proxy = proxy(Wish.EPOLL, one, two, "{max-age: 1s, quiet: 500ms, grace: 2s}")) {
            Sums sums = run(proxy, 3, WORK, Duration.ZERO, Duration.ofSeconds(5));
            System.out.println("gRPC over TLS, clients that never rest: " + sums);

            assertTrue(sums.cut() >= 3, sums::toString);
            assertTrue(sums.failures().size() <= sums.cut() * 4, sums::toString); // a channel has four callers
        }
    }

    private record Sums(long calls, List<GrpcCrowd.Failure> failures, long quiet, long cut, long otherwise) {
        @Override
        public String toString() {
            return "calls=" + calls + " failed=" + failures.size() + " retired=" + quiet + " cut=" + cut + " otherwise="
                    + otherwise;
        }
    }

    private static ProxyFixture proxy(Wish transport, GrpcService one, GrpcService two, String lifetime)
            throws Exception {
        return ProxyFixture.on(transport)
                .endpoint("{address: \"" + one.hostPort() + "\"}")
                .endpoint("{address: \"" + two.hostPort() + "\"}")
                .frontend("lifetime: " + lifetime)
                .start();
    }

    private static Sums run(ProxyFixture proxy, int channels, Duration work, Duration rest, Duration time)
            throws Exception {
        long calls;
        List<GrpcCrowd.Failure> failures;
        try (var crowd = GrpcCrowd.startTls(proxy.address(), pair, channels, work, rest)) {
            long until = System.nanoTime() + time.toNanos();
            Await.until("the time is over", time.plusSeconds(30), () -> System.nanoTime() - until >= 0);
            crowd.stop();
            calls = crowd.done();
            failures = crowd.failures();
        }
        proxy.awaitNoConnections();
        long quiet = proxy.sum(row -> row.retired(CloseReason.MAX_AGE, RetireHow.QUIET));
        long cut = proxy.sum(row -> row.retired(CloseReason.MAX_AGE, RetireHow.CUT));
        return new Sums(calls, failures, quiet, cut, proxy.closed() - quiet - cut);
    }
}
