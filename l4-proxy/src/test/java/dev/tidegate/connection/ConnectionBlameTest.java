package dev.tidegate.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Failure;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What counts for and against an endpoint. */
final class ConnectionBlameTest {
    /** Only its reset does, of all that may happen while nothing of it has come. */
    @ParameterizedTest
    @EnumSource
    void ofAllEventsBeforeItsFirstByteOnlyItsResetCountsAgainstAnEndpoint(ConnectionEvent event) {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");

            event.happen(bench);
            bench.crank.runReady();

            boolean blamed = event == ConnectionEvent.ENDPOINT_RESET;
            assertEquals(blamed ? List.of("reset") : List.of(), bench.failures());
            assertEquals(blamed ? 1 : 0, bench.worker.counters().endpoint(0).failures(Failure.RESET));
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aResetAfterItsFirstByteDoesNotCountAgainstAnEndpoint() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.endpointSays("p");

            ConnectionEvent.ENDPOINT_RESET.happen(bench);

            assertEquals(List.of("connected", "answered"), bench.watched);
            bench.assertNothingLeft();
        }
    }

    /** Either may be an answer to the client's leaving. */
    @ParameterizedTest
    @EnumSource(
            value = ConnectionEvent.class,
            names = {"CLIENT_FIN", "CLIENT_RESET", "CLIENT_REFUSES_BYTES"})
    void aResetAfterTheClientsEndDoesNotCountAgainstAnEndpoint(ConnectionEvent end) {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");
            if (end == ConnectionEvent.CLIENT_REFUSES_BYTES) {
                ConnectionEvent.CLIENT_FIN.happen(bench);
            }
            end.happen(bench);
            bench.crank.runReady();

            ConnectionEvent.ENDPOINT_RESET.happen(bench);

            assertEquals(List.of("connected"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void theFirstByteCountsForAnEndpointOnce() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            for (int i = 0; i < 3; i++) {
                bench.clientSays("ping");
                bench.endpointSays("pong");
            }
            bench.crank.advance(Duration.ofSeconds(2));

            assertEquals(List.of("connected", "answered"), bench.watched);
            assertEquals(1, bench.worker.counters().endpoint(0).answered);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void anEndpointThatIsLateWithItsFirstByteIsBlamedOnceAndTheConnectionGoesOn() {
        try (ConnectionBench bench = new ConnectionBench()) {
            bench.firstByteNanos = ConnectionBench.SECOND / 2;
            ConnectionStanding.RELAYING.reach(bench);
            bench.crank.advance(Duration.ofMillis(200));
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(400));
            bench.clientSays("are you there"); // which gives it no more time
            assertEquals(List.of(), bench.failures());

            bench.crank.advance(Duration.ofMillis(140));
            assertEquals(List.of("silent"), bench.failures());
            assertEquals(1, bench.worker.counters().endpoint(0).failures(Failure.SILENT));
            bench.crank.advance(Duration.ofSeconds(20));
            bench.clientSays("still");
            bench.crank.advance(Duration.ofSeconds(20));

            assertEquals(List.of("connected", "silent"), bench.watched);
            bench.endpointSays("pong");
            assertEquals(List.of("connected", "silent", "answered"), bench.watched);
            assertEquals("open, open, lives", bench.outcome());
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void whatTheClientSaidBeforeTheConnectIsOwedAnAnswerFromThenOn() {
        try (ConnectionBench bench = new ConnectionBench()) {
            bench.firstByteNanos = ConnectionBench.SECOND / 2;
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(1_500));
            ConnectionEvent.CONNECTED.happen(bench);
            bench.crank.advance(Duration.ofMillis(450));
            assertEquals(List.of("connected"), bench.watched);

            bench.crank.advance(Duration.ofMillis(100));

            assertEquals(List.of("connected", "silent"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aClientThatHasAskedAndEndedItsSideIsOwedAnAnswerToo() {
        try (ConnectionBench bench = new ConnectionBench()) {
            bench.firstByteNanos = ConnectionBench.SECOND / 2;
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");
            ConnectionEvent.CLIENT_FIN.happen(bench);

            bench.crank.advance(Duration.ofMillis(540));

            assertEquals(List.of("silent"), bench.failures());
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void anAnswerInTimeIsNotLateAfterwards() {
        try (ConnectionBench bench = new ConnectionBench()) {
            bench.firstByteNanos = ConnectionBench.SECOND / 2;
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(400));
            bench.endpointSays("p");
            bench.clientSays("ping");

            bench.crank.advance(Duration.ofSeconds(30));

            assertEquals(List.of("connected", "answered"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void anEndpointOwesNothingToAClientThatSaysNothing() {
        try (ConnectionBench bench = new ConnectionBench()) {
            bench.firstByteNanos = ConnectionBench.SECOND / 2;
            ConnectionStanding.RELAYING.reach(bench);

            bench.crank.advance(Duration.ofSeconds(30));

            assertEquals(List.of(), bench.failures());
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    /** Where the client speaks and never the endpoint, a row of failures would never end otherwise. */
    @Test
    void aSecondWithoutAFaultCountsForAnEndpointThatNeverSpeaks() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(900));
            assertEquals(List.of("connected"), bench.watched);

            bench.crank.advance(Duration.ofMillis(200));
            assertEquals(List.of("connected", "answered"), bench.watched);
            assertEquals(0, bench.worker.counters().endpoint(0).answered, "it has not answered");
            bench.crank.advance(Duration.ofSeconds(30));

            assertEquals(List.of("connected", "answered"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aSecondWithoutAFaultCountsForNothingWhileAnAnswerIsOwed() {
        try (ConnectionBench bench = new ConnectionBench()) {
            bench.firstByteNanos = 5 * ConnectionBench.SECOND;
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");

            bench.crank.advance(Duration.ofSeconds(4));
            assertEquals(List.of("connected"), bench.watched);
            bench.crank.advance(Duration.ofSeconds(2));

            assertEquals(List.of("connected", "silent"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aSecondAfterAWriteThatMetADeadSocketCountsForNothing() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionStanding.RELAYING.reach(bench);
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(500));
            ConnectionEvent.ENDPOINT_REFUSES_BYTES.happen(bench);

            bench.crank.advance(Duration.ofMillis(1_700)); // no end follows, and it is given up

            assertEquals(List.of("connected", "reset"), bench.watched);
            bench.assertNothingLeft();
        }
    }

    @Test
    void aRefusedConnectCountsAgainstAnEndpoint() {
        try (ConnectionBench bench = new ConnectionBench()) {
            ConnectionEvent.REFUSED.happen(bench);

            assertEquals(List.of("refused"), bench.watched);
            bench.assertNothingLeft();
        }
    }
}
