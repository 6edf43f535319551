package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests and answers of a protocol that nobody knows, over connections whose lives are short: all end between two answers.
 *
 * <p>The load: a client asks, waits for the answer (which may come in pieces), and then mostly rests for longer than the
 * silence that is asked for; now and then it asks again before that. A connection ends in the first rest after its soft limit.
 * Every client goes on until its connection has been ended, so that all connections reach their soft limit, and a cut would be
 * seen.
 */
@Tag("clock")
class OpaqueLifetimeIT {
    /** All transports at once: clients mostly wait. */
    @Test
    @Tag("slow")
    void noAnswerIsLostOrTruncated() throws Exception {
        AskingCrowd.Shape shape = new AskingCrowd.Shape(40, 100, 1_500, 25);
        List<Wish> transports = List.of(Wish.IO_URING, Wish.EPOLL, Wish.NIO);
        ExecutorService executor = Executors.newFixedThreadPool(transports.size());
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (Wish transport : transports) {
                runs.add(executor.submit(() -> {
                    noAnswerIsLostOrTruncated(transport, shape, "1m", Duration.ofSeconds(3), 60);
                    return null;
                }));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        } finally {
            executor.shutdownNow();
        }
    }

    @EachTransport
    @Tag("nightly")
    void noLongAnswerIsLostOrTruncated(Wish transport) throws Exception {
        // Six times the longest answer: at four times a request that comes late in the grace may be given up
        // unanswered.
        AskingCrowd.Shape shape = new AskingCrowd.Shape(200, 100, 5_000, 10);
        noAnswerIsLostOrTruncated(transport, shape, "30s", Duration.ofMinutes(2), 2_000);
    }

    private static void noAnswerIsLostOrTruncated(
            Wish transport, AskingCrowd.Shape shape, String grace, Duration time, long leastRetired) throws Exception {
        try (var endpoint = AskingCrowd.endpoint();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(endpoint.backend())
                        .frontend("lifetime: {max-age: 1s, quiet: 500ms, grace: " + grace + "}")
                        .start()) {
            AskingCrowd.Sums sums = AskingCrowd.run(proxy.address(), endpoint, shape, time);
            proxy.awaitNoConnections();
            long quiet = proxy.sum(row -> row.retired(CloseReason.MAX_AGE, RetireHow.QUIET));
            long cut = proxy.sum(row -> row.retired(CloseReason.MAX_AGE, RetireHow.CUT));
            long oldestMillis = proxy.records().stream()
                    .mapToLong(record -> Duration.ofNanos(record.durationNanos).toMillis())
                    .max()
                    .orElse(0);
            System.out.println(transport + " opaque: " + sums + " retired=" + quiet + " cut=" + cut + " oldest="
                    + oldestMillis + " ms");

            assertEquals(0, sums.truncated(), "truncated answers");
            assertEquals(0, sums.lost(), "answers that an endpoint owed");
            // A request that crosses a FIN has reached nobody, as with any server that closes idle connections.
            assertTrue(sums.crossed() * 200 <= quiet, () -> sums.crossed() + " requests crossed a FIN");
            assertTrue(quiet >= leastRetired, () -> "only " + quiet + " connections were retired");
            assertTrue(cut * 99 <= quiet, () -> cut + " were cut");
            Await.equal("closed otherwise", 0L, () -> proxy.closed() - quiet - cut);
        }
    }
}
