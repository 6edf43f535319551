package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** A connection whose last HTTP/1 request has been passed on, so that nothing more is read from its client. */
class HeldRequestsTest {
    private static final String REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    /** Answers one request, and thinks about the next for ever. */
    private static final Script ANSWERS_ONE = connection -> {
        connection.readExactly(REQUEST.length());
        connection.send(ANSWER);
        connection.readToEnd();
    };

    /** On io_uring no event tells of it. nio sees a reset only when it reads. */
    @NativeTransports
    @Tag("slow")
    void aClientThatResetsWhileItsAnswerIsWaitedForIsHeard(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(ANSWERS_ONE);
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .frontend("lifetime: {max-requests: 2, grace: 1h}")
                        .start();
                var client = proxy.connect()) {
            client.send(REQUEST);
            assertEquals(ANSWER, client.readText(ANSWER.length()));
            client.send(REQUEST);
            Await.until(
                    "the second request is there",
                    () -> backend.connection(0).bytesReceived() == 2L * REQUEST.length());
            client.send(REQUEST); // stays unread
            client.awaitAcknowledged();
            client.reset();

            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.CLIENT_RESET, record.reason);
            assertNull(record.how);
            assertFalse(record.cutMidExchange);
            backend.awaitAllDone();
            assertEquals(Ending.RST, backend.connection(0).ending());
        }
    }

    /** As one does that was about to end an idle connection. The client's end used to be waited for and never heard. */
    @EachTransport
    void anEndpointThatEndsWithoutAnAnswerEndsTheConnectionWithItsClient(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(connection -> {
                    connection.readExactly(REQUEST.length());
                    connection.send(ANSWER);
                    connection.readExactly(REQUEST.length());
                    connection.shutdownOutput();
                    assertEquals(0, connection.readToEnd().bytes(), "what was held reaches nobody");
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .frontend("lifetime: {max-requests: 2, grace: 1h}")
                        .start();
                var client = proxy.connect()) {
            client.send(REQUEST);
            assertEquals(ANSWER, client.readText(ANSWER.length()));
            client.send(REQUEST + REQUEST);
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.send(REQUEST);
            client.shutdownOutput();

            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.ENDPOINT_CLOSED, record.reason);
            assertEquals(2, record.requests);
            assertNull(record.how);
            backend.awaitAllDone();
            assertEquals(Optional.empty(), backend.connection(0).scriptEnd());
        }
    }

    /** An endpoint may go by it: its client does not want the answer any more. nio sees an end only when it reads. */
    @NativeTransports
    void theEndOfAClientThatHasSaidNothingSinceReachesTheEndpoint(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(connection -> {
                    connection.readExactly(REQUEST.length());
                    connection.send(ANSWER);
                    connection.readExactly(REQUEST.length());
                    connection.readToEnd();
                    connection.send(ANSWER);
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .frontend("lifetime: {max-requests: 2, grace: 1h}")
                        .start();
                var client = proxy.connect()) {
            client.send(REQUEST);
            assertEquals(ANSWER, client.readText(ANSWER.length()));
            client.send(REQUEST);
            Await.until(
                    "the second request is there",
                    () -> backend.connection(0).bytesReceived() == 2L * REQUEST.length());
            client.shutdownOutput();

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.MAX_REQUESTS, record.reason);
            assertEquals(RetireHow.RESPONSE, record.how);
        }
    }

    /** What it says before the endpoint has agreed is held, and goes on then. */
    @EachTransport
    @Tag("slow")
    void anUpgradeAtTheCapGoesOn(Wish transport) throws Exception {
        String upgrade = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        String agreed = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        try (var backend = ScriptedBackend.start(connection -> {
                    connection.readExactly(REQUEST.length());
                    connection.send(ANSWER);
                    connection.readExactly(upgrade.length());
                    connection.send(agreed + "hi");
                    connection.send(connection.readExactly(8));
                    connection.readToEnd();
                });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .frontend("lifetime: {max-requests: 2, grace: 10s, quiet: 200ms}")
                        .start();
                var client = proxy.connect()) {
            client.send(REQUEST);
            assertEquals(ANSWER, client.readText(ANSWER.length()));
            client.send(upgrade + "fram");
            assertEquals(agreed + "hi", client.readText(agreed.length() + 2));
            client.send("e123");
            assertEquals("frame123", client.readText(8));
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.shutdownOutput();

            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.MAX_REQUESTS, record.reason);
            assertEquals(RetireHow.QUIET, record.how);
            assertEquals(2, record.requests);
        }
    }
}
