package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedConnection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;

/** HTTP/1 connections that reach a limit on requests, as both sides see it byte for byte. */
class Http1EndingsTest {
    private static final String CLOSE = "Connection: close\r\n";

    /** An endpoint that takes requests apart as RFC 9112 has it, and remembers their first lines. */
    private static final class Requests {
        private final List<String> seen = new CopyOnWriteArrayList<>();

        /** The first line of the next request, its body read too; null at the client's end. */
        String next(ScriptedConnection connection) throws IOException {
            StringBuilder head = new StringBuilder();
            byte[] one = new byte[1];
            while (head.indexOf("\r\n\r\n") < 0) {
                if (connection.read(one) < 0) {
                    assertEquals("", head.toString(), "a request that was broken off");
                    return null;
                }
                head.append((char) one[0]);
            }
            int length = head.indexOf("Content-Length: ");
            if (length >= 0) {
                int end = head.indexOf("\r\n", length);
                connection.readExactly(Integer.parseInt(head.substring(length + "Content-Length: ".length(), end)));
            }
            String line = head.substring(0, head.indexOf("\r\n"));
            seen.add(line);
            return line;
        }
    }

    private static ProxyFixture proxy(Wish transport, ScriptedBackend backend, String lifetime) throws IOException {
        return ProxyFixture.on(transport)
                .endpoint("{name: a, address: \"" + backend.hostPort() + "\"}")
                .frontend("lifetime: {" + lifetime + "}")
                .start();
    }

    private static void assertRead(String expected, ScriptedClient client) throws IOException {
        assertEquals(expected, client.readText(expected.length()));
    }

    private static void assertNothingButFin(ScriptedClient client) throws IOException {
        End end = client.readToEnd();
        assertEquals(End.Kind.FIN, end.kind());
        assertEquals(0, end.bytes());
    }

    private static void assertRetired(AccessRecord record, CloseReason reason, RetireHow how, long requests) {
        assertEquals(reason, record.reason);
        assertEquals(how, record.how);
        assertEquals(requests, record.requests);
        assertFalse(record.cutMidExchange);
    }

    // ---- a pipeline (drbrain/net-http-pipeline#2)

    /** Requests of all kinds: some with bodies, and bodies, that look like messages. */
    private static String request(int number) {
        return switch (number % 5) {
            case 0 -> "GET /" + number + " HTTP/1.1\r\nHost: a\r\n\r\n";
            case 1 -> "HEAD /" + number + " HTTP/1.1\r\nHost: a\r\n\r\n";
            case 2 ->
                "POST /" + number + " HTTP/1.1\r\nHost: a\r\nContent-Length: 22\r\n\r\nGET /fake HTTP/1.1\r\n\r\n";
            case 3 -> "GET /" + number + "?no-content HTTP/1.1\r\nHost: a\r\n\r\n";
            default -> "GET /" + number + " HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"1\"\r\n\r\n";
        };
    }

    private static String answer(int number, boolean last) {
        String close = last ? CLOSE : "";
        return switch (number % 5) {
            case 0 ->
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Sum\r\n" + close
                        + "\r\n13\r\nHTTP/1.1 200 OK\r\n\r\n\r\n3\r\nabc\r\n0\r\nSum: " + number + "\r\n\r\n";
            case 1 -> "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n" + close + "\r\n";
            case 2 ->
                "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n" + close
                        + "\r\nHTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab";
            case 3 -> "HTTP/1.1 204 No Content\r\n" + close + "\r\n";
            default -> "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n" + close + "\r\n";
        };
    }

    private static String requests(int from, int to) {
        StringBuilder all = new StringBuilder();
        for (int i = from; i <= to; i++) {
            all.append(request(i));
        }
        return all.toString();
    }

    /** Answers each request by its number. */
    private static Script answering(Requests requests) {
        return connection -> {
            for (String line = requests.next(connection); line != null; line = requests.next(connection)) {
                connection.send(answer(Integer.parseInt(line.replaceAll("\\D*(\\d+).*", "$1")), false));
            }
        };
    }

    @EachTransport
    void ofAPipelineTheCapLeavesAHundredAnsweredAndSendsNoMore(Wish transport) throws Exception {
        Requests requests = new Requests();
        try (var backend = ScriptedBackend.start(answering(requests));
                var proxy = proxy(transport, backend, "max-requests: 100");
                var client = proxy.connect()) {
            client.send(request(1));
            assertRead(answer(1, false), client); // now it is known what both speak
            client.send(requests(2, 150));

            for (int i = 2; i <= 100; i++) {
                assertRead(answer(i, i == 100), client);
            }
            assertNothingButFin(client);
            client.shutdownOutput();
            assertRetired(proxy.awaitOnlyRecord(), CloseReason.MAX_REQUESTS, RetireHow.RESPONSE, 100);
            backend.awaitAllDone();
            assertEquals(100, requests.seen.size());
        }
    }

    @EachTransport
    void ofAPipelineThatCameBeforeItWasRecognisedAllThatWasPassedOnIsAnswered(Wish transport) throws Exception {
        Requests requests = new Requests();
        try (var backend = ScriptedBackend.start(answering(requests));
                var proxy = proxy(transport, backend, "max-requests: 100");
                var client = proxy.connect()) {
            client.send(requests(1, 150));

            int answered = 0;
            boolean last = false;
            while (!last) {
                answered++;
                String plain = answer(answered, false);
                int headBytes = plain.indexOf("\r\n\r\n") + 2;
                assertRead(plain.substring(0, headBytes), client);
                String next = client.readText(2);
                last = !next.equals("\r\n");
                if (last) {
                    assertEquals(CLOSE + "\r\n", next + client.readText(CLOSE.length()));
                }
                assertRead(plain.substring(headBytes + 2), client);
            }
            assertNothingButFin(client);
            client.shutdownOutput();
            assertTrue(answered >= 100 && answered <= 150, "answered " + answered);
            assertRetired(proxy.awaitOnlyRecord(), CloseReason.MAX_REQUESTS, RetireHow.RESPONSE, answered);
            backend.awaitAllDone();
            assertEquals(answered, requests.seen.size());
        }
    }

    // ---- interim responses (nghttp2/nghttp2#1259, nginx/nginx#1241)

    @EachTransport
    void interimResponsesCountForNothingAndEndNothing(Wish transport) throws Exception {
        String interim = "HTTP/1.1 100 Continue\r\n\r\n"
                + "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n".repeat(2);
        Requests requests = new Requests();
        try (var backend = ScriptedBackend.start(connection -> {
                    while (requests.next(connection) != null) {
                        connection.send(interim.substring(0, 30));
                        connection.send(interim.substring(30));
                        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }
                });
                var proxy = proxy(transport, backend, "max-requests: 10");
                var client = proxy.connect()) {
            for (int i = 1; i <= 10; i++) {
                client.send("GET /" + i + " HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n");
                assertRead(interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", client);
                assertRead((i == 10 ? CLOSE : "") + "\r\nok", client);
            }
            assertNothingButFin(client);
            client.shutdownOutput();
            assertRetired(proxy.awaitOnlyRecord(), CloseReason.MAX_REQUESTS, RetireHow.RESPONSE, 10);
            assertEquals(10, requests.seen.size());
        }
    }

    // ---- what is no HTTP any more (envoyproxy/envoy#3952, envoyproxy/envoy#45250)

    private static final String UPGRADE =
            "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    private static final String SWITCHED =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    private static final String CONNECT = "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n";
    private static final String CONNECTED = "HTTP/1.1 200 Connection established\r\n\r\n";

    /** What must not be taken for requests and answers: they are somebody's payload. */
    private static final List<String> PAYLOAD = List.of(
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(5),
            "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0",
            "GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n");

    /** Agrees to the first request, then sends back what comes. */
    private static ScriptedBackend agreeing(Requests requests, String agreement) {
        return ScriptedBackend.start(connection -> {
            requests.next(connection);
            connection.send(agreement);
            byte[] chunk = new byte[4096];
            for (int count = connection.read(chunk); count >= 0; count = connection.read(chunk)) {
                connection.send(new String(chunk, 0, count, StandardCharsets.ISO_8859_1));
            }
        });
    }

    private static void assertPayloadPasses(ScriptedClient client) throws IOException {
        for (String payload : PAYLOAD) {
            client.send(payload);
            assertRead(payload, client);
        }
    }

    @EachTransport
    @Tag("slow")
    void anUpgradeCountsOnceAndIsEndedInSilenceWhenItsAgeComes(Wish transport) throws Exception {
        switchedIsEndedByAge(transport, UPGRADE, SWITCHED);
    }

    @EachTransport
    @Tag("slow")
    void aTunnelCountsOnceAndIsEndedInSilenceWhenItsAgeComes(Wish transport) throws Exception {
        switchedIsEndedByAge(transport, CONNECT, CONNECTED);
    }

    private static void switchedIsEndedByAge(Wish transport, String request, String agreement) throws Exception {
        Requests requests = new Requests();
        try (var backend = agreeing(requests, agreement);
                var proxy = proxy(
                        transport, backend, "max-requests: 3, max-age: 10m, jitter: 0%, grace: 20s, quiet: 50ms");
                var client = proxy.connect()) {
            client.send(request);
            assertRead(agreement, client);
            assertPayloadPasses(client);

            proxy.pass(Duration.ofMinutes(10));

            assertNothingButFin(client);
            client.shutdownOutput();
            AccessRecord record = proxy.awaitOnlyRecord();
            assertRetired(record, CloseReason.MAX_AGE, RetireHow.QUIET, 1);
            assertEquals(Protocol.HTTP1, record.protocol);
            assertEquals(1, requests.seen.size());
        }
    }

    @EachTransport
    void anUpgradeCountsOnceAndIsEndedInSilenceByADrain(Wish transport) throws Exception {
        switchedIsEndedByDrain(transport, UPGRADE, SWITCHED);
    }

    @EachTransport
    void aTunnelCountsOnceAndIsEndedInSilenceByADrain(Wish transport) throws Exception {
        switchedIsEndedByDrain(transport, CONNECT, CONNECTED);
    }

    private static void switchedIsEndedByDrain(Wish transport, String request, String agreement) throws Exception {
        Requests requests = new Requests();
        try (var backend = agreeing(requests, agreement);
                var proxy = proxy(transport, backend, "max-requests: 3, quiet: 50ms");
                var client = proxy.connect()) {
            client.send(request);
            assertRead(agreement, client);
            assertPayloadPasses(client);
            new OperatorFixture(proxy.proxy())
                    .drain(OperatorFixture.endpoint("a"), Duration.ofSeconds(20), Duration.ZERO, DrainMode.GRACEFUL);

            assertNothingButFin(client);
            client.shutdownOutput();
            assertRetired(proxy.awaitOnlyRecord(), CloseReason.DRAIN, RetireHow.QUIET, 1);
            assertEquals(1, requests.seen.size());
        }
    }
}
