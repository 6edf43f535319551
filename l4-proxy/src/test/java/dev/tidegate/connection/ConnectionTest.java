package dev.tidegate.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admission.Admission;
import dev.tidegate.admission.ConnectionLimit;
import dev.tidegate.balance.Pickers;
import dev.tidegate.dial.Dialer;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import dev.tidegate.model.Retries;
import dev.tidegate.model.Timeouts;
import dev.tidegate.relay.FlowHandler;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.testkit.HandCrankedLoop;
import dev.tidegate.worker.Worker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every state and every event of a connection, without sockets and with time in the hand. (Between its making and its
 * start nothing reaches a connection: its handler stands on no channel yet.)
 */
class ConnectionTest {
    private static final long SECOND = 1_000_000_000L;
    private static final InetSocketAddress CLIENT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1234);
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
    private static final InetSocketAddress TARGET = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7001);

    /** How the client's side stands after the event, how the endpoint's, and the reason once it is closed. */
    private static final String TABLE = """
            DIALING
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           closed, closed, client-reset
              ENDPOINT_RESET         open, open, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                reset, closed, dial-refused
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, closed, overload
              SILENCE                reset, closed, dial-timeout
            DIALING_FOR_ENDED
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           closed, closed, client-reset
              ENDPOINT_RESET         open, open, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, fin 200k, lives
              REFUSED                reset, closed, dial-refused
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, closed, overload
              SILENCE                reset, closed, client-closed
            RELAYING
              CLIENT_BYTES           open, open 200k, lives
              ENDPOINT_BYTES         open 200k, open, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           fin, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                closed, closed, idle
            CLIENT_ENDED
              CLIENT_BYTES           open, fin, lives
              ENDPOINT_BYTES         open 200k, fin, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           closed, closed, client-closed
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   reset, reset, client-reset
              ENDPOINT_REFUSES_BYTES open, fin, lives
              CLIENT_READS           open, fin, lives
              CONNECTED              open, fin, lives
              REFUSED                open, fin, lives
              RETIRED                open, fin, lives
              MAY_STAY               open, fin, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, half-closed-timeout
            ENDPOINT_ENDED
              CLIENT_BYTES           fin, open 200k, lives
              ENDPOINT_BYTES         fin, open, lives
              CLIENT_FIN             closed, closed, endpoint-closed
              ENDPOINT_FIN           fin, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   fin, open, lives
              ENDPOINT_REFUSES_BYTES reset, reset, endpoint-reset
              CLIENT_READS           fin, open, lives
              CONNECTED              fin, open, lives
              REFUSED                fin, open, lives
              RETIRED                fin, open, lives
              MAY_STAY               fin, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, half-closed-timeout
            BLOCKED
              CLIENT_BYTES           open, open 200k, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open 200k, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, idle
            ANSWER_BLOCKED
              CLIENT_BYTES           open, fin, lives
              ENDPOINT_BYTES         open, fin, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           open, fin, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   reset, reset, client-reset
              ENDPOINT_REFUSES_BYTES open, fin, lives
              CLIENT_READS           open 200k, fin, lives
              CONNECTED              open, fin, lives
              REFUSED                open, fin, lives
              RETIRED                open, fin, lives
              MAY_STAY               open, fin, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, half-closed-timeout
            BOTH_BLOCKED
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           reset, open, lives
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open 200k, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, idle
            ENDPOINT_REFUSES
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open 200k, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           reset, reset, endpoint-reset
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, endpoint-reset
            RETIRING
              CLIENT_BYTES           open, open 200k, lives
              ENDPOINT_BYTES         open 200k, open, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           fin, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                closed, closed, shutdown
            FLUSHING
              CLIENT_BYTES           open, reset, lives
              ENDPOINT_BYTES         open, reset, lives
              CLIENT_FIN             open, reset, lives
              ENDPOINT_FIN           open, reset, lives
              CLIENT_RESET           closed, reset, endpoint-reset
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   reset, reset, endpoint-reset
              ENDPOINT_REFUSES_BYTES open, reset, lives
              CLIENT_READS           open 200k, reset, lives
              CONNECTED              open, reset, lives
              REFUSED                open, reset, lives
              RETIRED                open, reset, lives
              MAY_STAY               open, reset, lives
              ABORTED                reset, reset, endpoint-reset
              SILENCE                reset, reset, endpoint-reset
            LINGERING
              CLIENT_BYTES           fin, closed, lives
              ENDPOINT_BYTES         fin, closed, lives
              CLIENT_FIN             closed, closed, shutdown
              ENDPOINT_FIN           fin, closed, lives
              CLIENT_RESET           closed, closed, shutdown
              ENDPOINT_RESET         fin, closed, lives
              CLIENT_REFUSES_BYTES   fin, closed, lives
              ENDPOINT_REFUSES_BYTES fin, closed, lives
              CLIENT_READS           fin, closed, lives
              CONNECTED              fin, closed, lives
              REFUSED                fin, closed, lives
              RETIRED                fin, closed, lives
              MAY_STAY               fin, closed, lives
              ABORTED                reset, closed, shutdown
              SILENCE                closed, closed, shutdown
            CLOSED
              CLIENT_BYTES           reset, reset, overload
              ENDPOINT_BYTES         reset, reset, overload
              CLIENT_FIN             reset, reset, overload
              ENDPOINT_FIN           reset, reset, overload
              CLIENT_RESET           reset, reset, overload
              ENDPOINT_RESET         reset, reset, overload
              CLIENT_REFUSES_BYTES   reset, reset, overload
              ENDPOINT_REFUSES_BYTES reset, reset, overload
              CLIENT_READS           reset, reset, overload
              CONNECTED              reset, reset, overload
              REFUSED                reset, reset, overload
              RETIRED                reset, reset, overload
              MAY_STAY               reset, reset, overload
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, overload
            """;

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void everyEventDoesWhatTheTableSays(Standing state) {
        StringBuilder seen = new StringBuilder(state + "\n");
        for (Event event : Event.values()) {
            try (Bench bench = new Bench()) {
                state.reach(bench);

                event.happen(bench);
                bench.crank.runReady();

                seen.append(String.format(Locale.ROOT, "  %-22s %s\n", event, bench.outcome()));
                bench.connection.abort(CloseReason.KILLED);
                bench.assertNothingLeft();
            }
        }
        assertEquals(rowsOf(state), seen.toString());
    }

    private static String rowsOf(Standing state) {
        int begin = TABLE.indexOf(state + "\n");
        int end = begin + state.name().length() + 1;
        while (TABLE.startsWith("  ", end)) {
            end = TABLE.indexOf('\n', end) + 1;
        }
        return TABLE.substring(begin, end);
    }

    @Test
    void aConnectionThatMayStayEndsByItsOwnSilence() {
        try (Bench bench = new Bench()) {
            Standing.RETIRING.reach(bench);
            Event.MAY_STAY.happen(bench);

            bench.crank.advance(Duration.ofSeconds(30));
            assertEquals("open, open, lives", bench.outcome());
            Event.SILENCE.happen(bench);

            assertEquals(CloseReason.IDLE, bench.records.get(0).reason);
            assertNull(bench.records.get(0).how);
        }
    }

    /** A first look that comes late cannot tell what the kernel has delivered meanwhile. */
    @Test
    void whatTheKernelStillDeliversIsNoSilenceWhenNobodyLookedInTime() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            long now = bench.worker.nowNanos();
            bench.connection.retire(RetireOrder.everywhere(CloseReason.DRAIN), now, now + 40 * SECOND);
            for (int second = 0; second < 39; second++) {
                Event.ENDPOINT_BYTES.happen(bench);
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
        try (Bench bench = new Bench()) {
            Event.RETIRED.happen(bench);
            Standing.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays(HTTP1_ANSWER.substring(0, HTTP1_ANSWER.length() - 1));
            long now = bench.worker.nowNanos();
            bench.connection.retire(bench.order, now + 10 * SECOND, now + 3_600 * SECOND);

            bench.endpointSays("\n");
            bench.crank.runReady();
            Event.CLIENT_FIN.happen(bench);

            assertEquals(CloseReason.SHUTDOWN, bench.records.get(0).reason);
            assertEquals(RetireHow.RESPONSE, bench.records.get(0).how);
            bench.assertNothingLeft();
        }
    }

    /** What the client says may begin a request line, until the answer shows that it does not. */
    @Test
    void theFirstExchangeOfAnUnknownProtocolCounts() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays("HTTP/1.1 200 OK\r\n\r\nthe first half");
            Event.SILENCE.happen(bench);

            assertEquals("reset, reset, idle", bench.outcome());
            bench.assertNothingLeft();
        }
    }

    @Test
    void silenceBetweenKnownExchangesEndsInOrder() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.clientSays("GET / HTTP/1.1\r\n\r\n");
            bench.endpointSays(HTTP1_ANSWER);
            Event.SILENCE.happen(bench);

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
            try (Bench bench = new Bench()) {
                Standing.RELAYING.reach(bench);
                talk(bench, random);
                bench.client.reads();
                bench.endpoint.reads();
                Event.CLIENT_FIN.happen(bench);
                Event.ENDPOINT_FIN.happen(bench);

                assertEquals(1, bench.records.size(), "records of seed " + seed);
                bench.assertNothingLeft();
            }
        }
    }

    private static void talk(Bench bench, Random random) {
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
                case 8 -> Event.RETIRED.happen(bench);
                case 9 -> Event.MAY_STAY.happen(bench);
                case 10 -> {
                    clientEnded |= random.nextInt(4) == 0;
                    happenIf(clientEnded, Event.CLIENT_FIN, bench);
                }
                default -> {
                    endpointEnded |= random.nextInt(4) == 0;
                    happenIf(endpointEnded, Event.ENDPOINT_FIN, bench);
                }
            }
        }
    }

    private static void happenIf(boolean happens, Event event, Bench bench) {
        if (happens) {
            event.happen(bench); // once more changes nothing
        }
    }

    /** The client has reset after its end, of which nobody heard; bytes of it still wait for the endpoint. */
    @Test
    void aLastWordThatMeetsADeadClientIsNoRetirement() {
        String settings = "\0\0\0\4\0\0\0\0\0";
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.clientSays("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings);
            bench.endpointSays(settings);
            bench.endpoint.blocked = true;
            bench.clientSays("\0\0\1\1\4\0\0\0\1" + "h"); // HEADERS that open stream 1
            Event.CLIENT_FIN.happen(bench);
            long now = bench.worker.nowNanos();
            bench.connection.retire(bench.order, now, now + SECOND);
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
        try (Bench bench = new Bench()) {
            long now = bench.worker.nowNanos();
            bench.connection.retire(new RetireOrder(CloseReason.DRAIN, cell -> false), now, now + 3_600 * SECOND);
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            Event.ENDPOINT_BYTES.happen(bench);
            bench.crank.advance(Duration.ofSeconds(1)); // a pause in an answer: ten times that is asked for
            Event.ENDPOINT_BYTES.happen(bench);
            bench.crank.advance(Duration.ofMillis(300));
            long now = bench.worker.nowNanos();
            bench.connection.retire(RetireOrder.everywhere(CloseReason.DRAIN), now, now + 600 * SECOND);

            bench.crank.advance(Duration.ofMillis(9_400));
            assertEquals("open 400k, open, lives", bench.outcome());
            bench.crank.advance(Duration.ofMillis(480));

            assertEquals("fin 400k, closed, lives", bench.outcome());
        }
    }

    @Test
    void theSilenceBehindAnAnswerThatWasOwedIsNotMissed() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            Event.CLIENT_BYTES.happen(bench);
            long now = bench.worker.nowNanos();
            bench.connection.retire(RetireOrder.everywhere(CloseReason.DRAIN), now, now + 600 * SECOND);
            bench.crank.advance(Duration.ofSeconds(1)); // it was looked at, and half the grace asked for
            Event.ENDPOINT_BYTES.happen(bench);

            bench.crank.advance(Duration.ofMillis(4_900));
            assertEquals("open 200k, open 200k, lives", bench.outcome());
            bench.crank.advance(Duration.ofMillis(200));

            assertEquals("fin 200k, closed 200k, lives", bench.outcome());
        }
    }

    // ---- what counts for and against an endpoint

    /** Only its reset does, of all that may happen while nothing of it has come. */
    @ParameterizedTest
    @EnumSource
    void ofAllEventsBeforeItsFirstByteOnlyItsResetCountsAgainstAnEndpoint(Event event) {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.clientSays("ping");

            event.happen(bench);
            bench.crank.runReady();

            boolean blamed = event == Event.ENDPOINT_RESET;
            assertEquals(blamed ? List.of("reset") : List.of(), bench.failures());
            assertEquals(blamed ? 1 : 0, bench.worker.counters().endpoint(0).failures(Failure.RESET));
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aResetAfterItsFirstByteDoesNotCountAgainstAnEndpoint() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.endpointSays("p");

            Event.ENDPOINT_RESET.happen(bench);

            assertEquals(List.of("connected", "answered"), bench.watched);
            bench.assertNothingLeft();
        }
    }

    /** Either may be an answer to the client's leaving. */
    @ParameterizedTest
    @EnumSource(
            value = Event.class,
            names = {"CLIENT_FIN", "CLIENT_RESET", "CLIENT_REFUSES_BYTES"})
    void aResetAfterTheClientsEndDoesNotCountAgainstAnEndpoint(Event end) {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.clientSays("ping");
            if (end == Event.CLIENT_REFUSES_BYTES) {
                Event.CLIENT_FIN.happen(bench);
            }
            end.happen(bench);
            bench.crank.runReady();

            Event.ENDPOINT_RESET.happen(bench);

            assertEquals(List.of("connected"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void theFirstByteCountsForAnEndpointOnce() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            bench.firstByteNanos = SECOND / 2;
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            bench.firstByteNanos = SECOND / 2;
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(1_500));
            Event.CONNECTED.happen(bench);
            bench.crank.advance(Duration.ofMillis(450));
            assertEquals(List.of("connected"), bench.watched);

            bench.crank.advance(Duration.ofMillis(100));

            assertEquals(List.of("connected", "silent"), bench.watched);
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void aClientThatHasAskedAndEndedItsSideIsOwedAnAnswerToo() {
        try (Bench bench = new Bench()) {
            bench.firstByteNanos = SECOND / 2;
            Standing.RELAYING.reach(bench);
            bench.clientSays("ping");
            Event.CLIENT_FIN.happen(bench);

            bench.crank.advance(Duration.ofMillis(540));

            assertEquals(List.of("silent"), bench.failures());
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    @Test
    void anAnswerInTimeIsNotLateAfterwards() {
        try (Bench bench = new Bench()) {
            bench.firstByteNanos = SECOND / 2;
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            bench.firstByteNanos = SECOND / 2;
            Standing.RELAYING.reach(bench);

            bench.crank.advance(Duration.ofSeconds(30));

            assertEquals(List.of(), bench.failures());
            bench.connection.abort(CloseReason.KILLED);
        }
    }

    /** Where the client speaks and never the endpoint, a row of failures would never end otherwise. */
    @Test
    void aSecondWithoutAFaultCountsForAnEndpointThatNeverSpeaks() {
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            bench.firstByteNanos = 5 * SECOND;
            Standing.RELAYING.reach(bench);
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
        try (Bench bench = new Bench()) {
            Standing.RELAYING.reach(bench);
            bench.clientSays("ping");
            bench.crank.advance(Duration.ofMillis(500));
            Event.ENDPOINT_REFUSES_BYTES.happen(bench);

            bench.crank.advance(Duration.ofMillis(1_700)); // no end follows, and it is given up

            assertEquals(List.of("connected", "reset"), bench.watched);
            bench.assertNothingLeft();
        }
    }

    @Test
    void aRefusedConnectCountsAgainstAnEndpoint() {
        try (Bench bench = new Bench()) {
            Event.REFUSED.happen(bench);

            assertEquals(List.of("refused"), bench.watched);
            bench.assertNothingLeft();
        }
    }

    /** The states, and the marks within RELAYING and CLOSING that make a difference. */
    enum Standing {
        DIALING {
            @Override
            void reach(Bench bench) {
                assertEquals("open, open, lives", bench.outcome());
            }
        },
        /** The client has sent something and ended its side. */
        DIALING_FOR_ENDED {
            @Override
            void reach(Bench bench) {
                Event.CLIENT_BYTES.happen(bench);
                Event.CLIENT_FIN.happen(bench);
            }
        },
        RELAYING {
            @Override
            void reach(Bench bench) {
                Event.CONNECTED.happen(bench);
            }
        },
        CLIENT_ENDED {
            @Override
            void reach(Bench bench) {
                RELAYING.reach(bench);
                Event.CLIENT_FIN.happen(bench);
                assertEquals("open, fin, lives", bench.outcome());
            }
        },
        ENDPOINT_ENDED {
            @Override
            void reach(Bench bench) {
                RELAYING.reach(bench);
                Event.ENDPOINT_FIN.happen(bench);
                assertEquals("fin, open, lives", bench.outcome());
            }
        },
        /** The client does not read, and bytes wait for it. */
        BLOCKED {
            @Override
            void reach(Bench bench) {
                RELAYING.reach(bench);
                bench.client.blocked = true;
                Event.ENDPOINT_BYTES.happen(bench);
                assertEquals(false, bench.endpoint.config().isAutoRead());
            }
        },
        /** The client has ended its side and does not read its answer. */
        ANSWER_BLOCKED {
            @Override
            void reach(Bench bench) {
                BLOCKED.reach(bench);
                Event.CLIENT_FIN.happen(bench);
                assertEquals("open, fin, lives", bench.outcome());
            }
        },
        /** Neither side reads, and bytes wait for both. */
        BOTH_BLOCKED {
            @Override
            void reach(Bench bench) {
                BLOCKED.reach(bench);
                bench.endpoint.blocked = true;
                Event.CLIENT_BYTES.happen(bench);
            }
        },
        /** A write has met the endpoint's dead socket, whose end is still to be read. */
        ENDPOINT_REFUSES {
            @Override
            void reach(Bench bench) {
                RELAYING.reach(bench);
                Event.ENDPOINT_REFUSES_BYTES.happen(bench);
            }
        },
        RETIRING {
            @Override
            void reach(Bench bench) {
                RELAYING.reach(bench);
                Event.RETIRED.happen(bench);
            }
        },
        /** CLOSING after the endpoint's reset, with bytes that wait for the client. */
        FLUSHING {
            @Override
            void reach(Bench bench) {
                BLOCKED.reach(bench);
                Event.ENDPOINT_RESET.happen(bench);
                assertEquals("open, reset, lives", bench.outcome());
            }
        },
        /** CLOSING at a quiet moment. */
        LINGERING {
            @Override
            void reach(Bench bench) {
                RETIRING.reach(bench);
                bench.crank.advance(Duration.ofSeconds(6));
                assertEquals("fin, closed, lives", bench.outcome());
            }
        },
        CLOSED {
            @Override
            void reach(Bench bench) {
                RELAYING.reach(bench);
                Event.ABORTED.happen(bench);
            }
        };

        abstract void reach(Bench bench);
    }

    /** All that a connection can be told. */
    enum Event {
        CLIENT_BYTES {
            @Override
            void happen(Bench bench) {
                bench.clientHandler.channelRead(null, bytes());
            }
        },
        ENDPOINT_BYTES {
            @Override
            void happen(Bench bench) {
                // Before it is connected a socket gives no bytes.
                if (bench.connection.picksUnder() == Long.MAX_VALUE) {
                    bench.endpointHandler.channelRead(null, bytes());
                }
            }
        },
        CLIENT_FIN {
            @Override
            void happen(Bench bench) {
                bench.clientHandler.userEventTriggered(null, ChannelInputShutdownEvent.INSTANCE);
            }
        },
        ENDPOINT_FIN {
            @Override
            void happen(Bench bench) {
                bench.endpointHandler.userEventTriggered(null, ChannelInputShutdownEvent.INSTANCE);
            }
        },
        CLIENT_RESET {
            @Override
            void happen(Bench bench) {
                bench.clientHandler.exceptionCaught(null, new IOException("Connection reset by peer"));
            }
        },
        ENDPOINT_RESET {
            @Override
            void happen(Bench bench) {
                bench.endpointHandler.exceptionCaught(null, new IOException("Connection reset by peer"));
            }
        },
        /** A write to the client met a dead socket. */
        CLIENT_REFUSES_BYTES {
            @Override
            void happen(Bench bench) {
                bench.clientHandler.exceptionCaught(null, new ChannelOutputShutdownException("Broken pipe"));
            }
        },
        /** A write to the endpoint met a dead socket. */
        ENDPOINT_REFUSES_BYTES {
            @Override
            void happen(Bench bench) {
                bench.endpointHandler.exceptionCaught(null, new ChannelOutputShutdownException("Broken pipe"));
            }
        },
        CLIENT_READS {
            @Override
            void happen(Bench bench) {
                bench.client.reads();
            }
        },
        CONNECTED {
            @Override
            void happen(Bench bench) {
                bench.endpoint.connected();
            }
        },
        REFUSED {
            @Override
            void happen(Bench bench) {
                bench.endpoint.connect.tryFailure(new ConnectException("Connection refused"));
            }
        },
        RETIRED {
            @Override
            void happen(Bench bench) {
                long now = bench.worker.nowNanos();
                bench.connection.retire(bench.order, now, now + 3_600 * SECOND);
            }
        },
        MAY_STAY {
            @Override
            void happen(Bench bench) {
                bench.connection.stay(bench.order);
            }
        },
        ABORTED {
            @Override
            void happen(Bench bench) {
                bench.connection.abort(CloseReason.OVERLOAD);
            }
        },
        /** Longer than any time-out. */
        SILENCE {
            @Override
            void happen(Bench bench) {
                bench.crank.advance(Duration.ofMinutes(2));
            }
        };

        abstract void happen(Bench bench);
    }

    private static ByteBuf bytes() {
        return Unpooled.directBuffer().writeZero(200_000);
    }

    /** A connection that has begun to dial, and all that it needs. */
    private static final class Bench implements AutoCloseable {
        private final RetireOrder order = RetireOrder.everywhere(CloseReason.SHUTDOWN);
        private final HandCrankedLoop crank = HandCrankedLoop.over(LocalIoHandler.newFactory());
        private final Worker worker = new Worker(
                0,
                crank.ticker()::nanoTime,
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(3),
                LocalIoHandler.newFactory(),
                unused -> crank.eventLoop());
        private final EndpointCell cell = new EndpointCell("back", "e", 0, List.of(TARGET));
        private final List<String> watched = new ArrayList<>();
        private long firstByteNanos = EndpointWatch.ANY_TIME;
        private final Frontend frontend = frontend();
        private final NoKernel kernel = new NoKernel();
        private final ConnectionLimit limit = new ConnectionLimit(1);
        private final Admission admission = new Admission(limit);
        private final FloodLog floods = new FloodLog(crank.ticker()::nanoTime);
        private final List<AccessRecord> records = new ArrayList<>();
        private final Wire client = new Wire(true);
        private Wire endpoint;
        private FlowHandler clientHandler;
        private FlowHandler endpointHandler;
        private Connection connection;

        Bench() {
            assertEquals(Admission.Verdict.ADMITTED, admission.admit(frontend));
            assertTrue(worker.tryAddLoad(0));
            Dialer dialer = new Dialer(
                    crank.eventLoop(),
                    worker.deadlines(),
                    worker::nowNanos,
                    worker.random(),
                    worker.counters(),
                    this::openEndpoint);
            ConnectionContext context = new ConnectionContext(worker, dialer, kernel, admission, floods, records::add);
            connection = new Connection(context, client, frontend, "127.0.0.1:80", 1);
            connection.start();
            clientHandler = client.pipeline().get(FlowHandler.class);
        }

        @Override
        public void close() {
            client.close();
            endpoint.close();
            crank.close();
            floods.close();
        }

        private void clientSays(String text) {
            clientHandler.channelRead(null, Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        }

        private void endpointSays(String text) {
            endpointHandler.channelRead(null, Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        }

        private List<String> failures() {
            return watched.stream()
                    .filter(word -> !word.equals("connected") && !word.equals("answered"))
                    .toList();
        }

        private String outcome() {
            return client + ", " + endpoint + ", "
                    + (records.isEmpty() ? "lives" : records.get(0).reason.word());
        }

        private void assertNothingLeft() {
            assertEquals(1, records.size(), "records");
            assertEquals(0, limit.active(), "admitted");
            assertEquals(0, cell.inFlight(), "in flight");
            assertEquals(0, worker.residents(), "residents");
            assertEquals(0, worker.load(), "load");
            assertTrue(worker.deadlines().isEmpty(), "a deadline left");
            assertTrue(!client.isOpen() && !endpoint.isOpen(), "a channel left");
        }

        private Channel openEndpoint(InetSocketAddress target, ChannelHandler handler) {
            endpoint = new Wire(false);
            endpointHandler = (FlowHandler) handler;
            endpoint.pipeline().addLast(handler);
            return endpoint;
        }

        private EndpointWatch watch() {
            return new EndpointWatch() {
                @Override
                public void onConnected(EndpointCell endpoint) {
                    watched.add("connected");
                }

                @Override
                public void onAnswered(EndpointCell endpoint) {
                    watched.add("answered");
                }

                @Override
                public void onFailure(EndpointCell endpoint, Failure failure) {
                    watched.add(failure.word());
                }

                @Override
                public long firstByteNanos() {
                    return firstByteNanos;
                }
            };
        }

        private Frontend frontend() {
            Backend backend = new Backend(
                    new BackendCell("back", 0),
                    BalancePolicy.ROUND_ROBIN,
                    Pickers.of(BalancePolicy.ROUND_ROBIN),
                    new EndpointList(List.of(new Endpoint("e", 1, 3, cell))),
                    new ConnectPolicy(2 * SECOND, 1, 5 * SECOND, ProxyProtocol.OFF),
                    Retries.UNBOUNDED,
                    watch());
            return new Frontend(
                    "front",
                    List.of(),
                    backend,
                    ProtocolChoice.AUTO,
                    1,
                    new Timeouts(60 * SECOND, 30 * SECOND, 0),
                    Lifetime.DEFAULT,
                    new FrontendCell("front", 0));
        }
    }

    /** A socket's stand-in, on the worker's loop: shows how its peer would see it. */
    private static final class Wire extends AbstractChannel implements DuplexChannel {
        private static final ChannelMetadata METADATA = new ChannelMetadata(false);

        private final ChannelConfig config = new DefaultChannelConfig(this) {
            @Override
            public <T> boolean setOption(ChannelOption<T> option, T value) {
                boolean linger = option.equals(ChannelOption.SO_LINGER);
                lingersZero |= linger && value.equals(0);
                return linger || super.setOption(option, value);
            }
        };

        private boolean open = true;
        private boolean active;
        private boolean blocked;
        private boolean refuses;
        private boolean lingersZero;
        private boolean outputShut;
        private long bytesSent;
        private ChannelPromise connect;

        Wire(boolean active) {
            super(null);
            this.active = active;
        }

        void connected() {
            active = open;
            connect.trySuccess();
        }

        void reads() {
            blocked = false;
            unsafe().flush();
        }

        @Override
        protected AbstractUnsafe newUnsafe() {
            return new AbstractUnsafe() {
                @Override
                public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
                    connect = promise;
                }
            };
        }

        @Override
        protected boolean isCompatible(EventLoop loop) {
            return true;
        }

        @Override
        protected SocketAddress localAddress0() {
            return LOCAL;
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return CLIENT;
        }

        @Override
        protected void doBind(SocketAddress address) {}

        @Override
        protected void doDisconnect() {
            doClose();
        }

        @Override
        protected void doClose() {
            open = false;
            active = false;
        }

        @Override
        protected void doBeginRead() {}

        @Override
        protected void doWrite(ChannelOutboundBuffer queue) throws IOException {
            if (refuses) {
                throw new IOException("Broken pipe");
            }
            while (!blocked && queue.current() != null) {
                bytesSent += ((ByteBuf) queue.current()).readableBytes();
                queue.remove();
            }
        }

        @Override
        public ChannelConfig config() {
            return config;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public boolean isActive() {
            return active;
        }

        @Override
        public ChannelMetadata metadata() {
            return METADATA;
        }

        @Override
        public boolean isInputShutdown() {
            return !open;
        }

        @Override
        public ChannelFuture shutdownInput() {
            return shutdownInput(newPromise());
        }

        @Override
        public ChannelFuture shutdownInput(ChannelPromise promise) {
            throw new UnsupportedOperationException("a connection reads to the end");
        }

        @Override
        public boolean isOutputShutdown() {
            return outputShut;
        }

        @Override
        public ChannelFuture shutdownOutput() {
            return shutdownOutput(newPromise());
        }

        @Override
        public ChannelFuture shutdownOutput(ChannelPromise promise) {
            outputShut = true;
            return promise.setSuccess();
        }

        @Override
        public boolean isShutdown() {
            return !open;
        }

        @Override
        public ChannelFuture shutdown() {
            return shutdown(newPromise());
        }

        @Override
        public ChannelFuture shutdown(ChannelPromise promise) {
            throw new UnsupportedOperationException("a connection closes");
        }

        @Override
        public String toString() {
            String words = open ? outputShut ? "fin" : "open" : lingersZero ? "reset" : "closed";
            return bytesSent < 1_000 ? words : words + " " + bytesSent / 1_000 + "k";
        }
    }

    /** No kernel that could know more than the channels. */
    private static final class NoKernel implements Sockets {
        private long undelivered;

        @Override
        public Channel open(InetSocketAddress target, ChannelHandler handler) {
            throw new UnsupportedOperationException("the dialer opens");
        }

        @Override
        public boolean missesResetWhenHalfClosed() {
            return false;
        }

        @Override
        public boolean missesResetWhenPaused() {
            return false;
        }

        @Override
        public boolean isDead(Channel channel) {
            return false;
        }

        @Override
        public long undelivered(Channel channel) {
            return undelivered;
        }

        @Override
        public void setLateOptions(Channel channel, boolean accepted, int unackedMillis) {}
    }
}
