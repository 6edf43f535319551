package dev.tidegate.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How and when a connection ends: by silence, orders, limits, and what its protocol says. */
final class ConnectionEndingTest {
    @Test
    void aConnectionThatMayStayEndsByItsOwnSilence() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RETIRING.reach(bench);
            ConnectionEvent.MAY_STAY.happen(bench);

            bench.crank.advance(Duration.ofSeconds(30));
            assertEquals("open, open, lives", bench.outcome());
            ConnectionEvent.SILENCE.happen(bench);

            assertEquals(CloseReason.IDLE, bench.records.get(0).reason);
            assertNull(bench.records.get(0).how);
        }
    }

    /** A first look that comes late cannot tell what the kernel has delivered meanwhile. */
    @Test
    void whatTheKernelStillDeliversIsNoSilenceWhenNobodyLookedInTime() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.kernel.undelivered = 2_000;
            bench.crank.standStill(Duration.ofSeconds(61));
            bench.crank.advance(Duration.ofSeconds(1));
            assertEquals(List.of(), bench.records, "ended although the kernel may deliver");
            bench.kernel.undelivered = 1_000;

            bench.crank.advance(Duration.ofSeconds(59));
            assertEquals(List.of(), bench.records, "ended although the kernel delivers");
            bench.crank.advance(Duration.ofSeconds(61));

            assertEquals(CloseReason.IDLE, bench.records.get(0).reason);
            bench.kernel.undelivered = 0;
            bench.crank.advance(Duration.ofSeconds(61));
            bench.assertNothingLeft();
        }
    }

    @Test
    void whatIsNeverQuietIsCutAtTheHardLimit() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            long now = bench.worker.nowNanos();
            bench.connection.retire(RetireOrder.everywhere(CloseReason.DRAIN), now, now + 40 * ConnectionBench.SECOND);
            for (int second = 0; second < 39; second++) {
                ConnectionEvent.ENDPOINT_BYTES.happen(bench);
                bench.crank.advance(Duration.ofSeconds(1));
                assertTrue(bench.records.isEmpty(), "ended after " + second + " s");
            }

            bench.crank.advance(Duration.ofSeconds(2));

            assertEquals(CloseReason.DRAIN, bench.records.get(0).reason);
            assertEquals(RetireHow.CUT, bench.records.get(0).how);
            bench.assertNothingLeft();
        }
    }

    private static final String HTTP1_ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    /** It was accepted by a frontend that is drained, and then covered by the drain once more. */
    @Test
    void anOrderGivenAgainForLaterTakesNoReasonFromAClientThatIsTold() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionEvent.RETIRED.happen(bench);
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays(HTTP1_ANSWER.substring(0, HTTP1_ANSWER.length() - 1));
            long now = bench.worker.nowNanos();
            bench.connection.retire(
                    bench.order, now + 10 * ConnectionBench.SECOND, now + 3_600 * ConnectionBench.SECOND);

            bench.endpointSays("\n");
            bench.crank.runReady();
            ConnectionEvent.CLIENT_FIN.happen(bench);

            assertEquals(CloseReason.SHUTDOWN, bench.records.get(0).reason);
            assertEquals(RetireHow.RESPONSE, bench.records.get(0).how);
            bench.assertNothingLeft();
        }
    }

    /** What the client says may begin a request line, until the answer shows that it does not. */
    @Test
    void theFirstExchangeOfAnUnknownProtocolCounts() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");
            bench.endpointSays("pong");
            assertEquals(1, bench.connection.info().requests());
            bench.clientSays("ping");
            bench.endpointSays("pong");

            assertEquals(2, bench.connection.info().requests());
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    /** A FIN would make a response whole that only the connection's end ends. */
    @Test
    void silenceWithinAKnownExchangeEndsInAReset() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays("HTTP/1.1 200 OK\r\n\r\nthe first half");
            ConnectionEvent.SILENCE.happen(bench);

            assertEquals("reset, reset, idle", bench.outcome());
            bench.assertNothingLeft();
        }
    }

    @Test
    void silenceBetweenKnownExchangesEndsInOrder() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays(HTTP1_ANSWER);
            ConnectionEvent.SILENCE.happen(bench);

            assertEquals("closed, closed, idle", bench.outcome());
            bench.assertNothingLeft();
        }
    }

    private static final List<String> REQUESTS = List.of(
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
            "GET / HTTP/1.1\r\nUpgrade: x\r\n\r\n");

    private static final List<String> ANSWERS = List.of(
            HTTP1_ANSWER,
            HTTP1_ANSWER,
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nto the end",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n");

    /** Whatever they had said, and whether or not the connection was to end: nothing is waited for that can come no more. */
    @Test
    void whenBothSidesHaveEndedNothingIsLeft() {
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            try (ConnectionBench bench = new ConnectionBench()) {
                ConnectionStanding.RELAYING.reach(bench);
                talk(bench, random);
                bench.client.reads();
                bench.endpoint.reads();
                ConnectionEvent.CLIENT_FIN.happen(bench);
                ConnectionEvent.ENDPOINT_FIN.happen(bench);

                assertEquals(1, bench.records.size(), "records of seed " + seed);
                bench.assertNothingLeft();
            }
        }
    }

    private static void talk(ConnectionBench bench, Random random) {
        boolean clientEnded = false;
        boolean endpointEnded = false;
        for (int i = 0; i < 25 && bench.records.isEmpty(); i++) {
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> {
                    if (!clientEnded) {
                        bench.clientSays(REQUESTS.get(random.nextInt(REQUESTS.size())));
                    }
                }
                case 3, 4, 5 -> {
                    if (!endpointEnded) {
                        bench.endpointSays(ANSWERS.get(random.nextInt(ANSWERS.size())));
                    }
                }
                case 6 -> bench.client.blocked = true;
                case 7 -> bench.endpoint.blocked = true;
                case 8 -> ConnectionEvent.RETIRED.happen(bench);
                case 9 -> ConnectionEvent.MAY_STAY.happen(bench);
                case 10 -> {
                    clientEnded |= random.nextInt(4) == 0;
                    happenIf(clientEnded, ConnectionEvent.CLIENT_FIN, bench);
                }
                default -> {
                    endpointEnded |= random.nextInt(4) == 0;
                    happenIf(endpointEnded, ConnectionEvent.ENDPOINT_FIN, bench);
                }
            }
        }
    }

    private static void happenIf(boolean happens, ConnectionEvent event, ConnectionBench bench) {
        if (happens) {
            event.happen(bench); // once more changes nothing
        }
    }

    /** The client has reset after its end, of which nobody heard; bytes of it still wait for the endpoint. */
    @Test
    void aLastWordThatMeetsADeadClientIsNoRetirement() {
        String settings = "\0\0\0\4\0\0\0\0\0";
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings);
            bench.endpointSays(settings);
            bench.endpoint.blocked = true;
            bench.clientSays("\0\0\1\1\4\0\0\0\1" + "h"); // HEADERS that open stream 1
            ConnectionEvent.CLIENT_FIN.happen(bench);
            long now = bench.worker.nowNanos();
            bench.connection.retire(bench.order, now, now + ConnectionBench.SECOND);
            bench.client.refuses = true;

            bench.crank.advance(Duration.ofSeconds(4));

            assertEquals(CloseReason.CLIENT_RESET, bench.records.get(0).reason);
            assertNull(bench.records.get(0).how);
            assertFalse(bench.records.get(0).cutMidExchange);
            bench.assertNothingLeft();
        }
    }

    /** Such as the drain of an endpoint that was dialed in vain. */
    @Test
    void anOrderThatDoesNotHoldAtTheEndpointThatItCameToIsForgottenByAll() {
        try (ConnectionBench bench = new ConnectionBench()) {
            long now = bench.worker.nowNanos();
            bench.connection.retire(
                    new RetireOrder(CloseReason.DRAIN, cell -> false), now, now + 3_600 * ConnectionBench.SECOND);
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays(HTTP1_ANSWER);
            bench.crank.runReady();

            assertEquals("open, open, lives", bench.outcome());
            assertEquals(HTTP1_ANSWER.length(), bench.client.bytesSent);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aSilenceIsTakenAsSoonAsItIsLongEnough() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            ConnectionEvent.ENDPOINT_BYTES.happen(bench);
            bench.crank.advance(Duration.ofSeconds(1)); // a pause in an answer: ten times that is asked for
            ConnectionEvent.ENDPOINT_BYTES.happen(bench);
            bench.crank.advance(Duration.ofMillis(300));
            long now = bench.worker.nowNanos();
            bench.connection.retire(RetireOrder.everywhere(CloseReason.DRAIN), now, now + 600 * ConnectionBench.SECOND);

            bench.crank.advance(Duration.ofMillis(9_400));
            assertEquals("open 400k, open, lives", bench.outcome());
            bench.crank.advance(Duration.ofMillis(480));

            assertEquals("fin 400k, closed, lives", bench.outcome());
        }
    }

    @Test
    void theSilenceBehindAnAnswerThatWasOwedIsNotMissed() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            ConnectionEvent.CLIENT_BYTES.happen(bench);
            long now = bench.worker.nowNanos();
            bench.connection.retire(RetireOrder.everywhere(CloseReason.DRAIN), now, now + 600 * ConnectionBench.SECOND);
            bench.crank.advance(Duration.ofSeconds(1)); // it was looked at, and half the grace asked for
            ConnectionEvent.ENDPOINT_BYTES.happen(bench);

            bench.crank.advance(Duration.ofMillis(4_900));
            assertEquals("open 200k, open 200k, lives", bench.outcome());
            bench.crank.advance(Duration.ofMillis(200));

            assertEquals("fin 200k, closed 200k, lives", bench.outcome());
        }
    }
}
