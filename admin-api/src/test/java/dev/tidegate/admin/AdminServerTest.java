package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the server answers, and what it refuses, over TCP. */
final class AdminServerTest {
    private final FakeOperations operations = new FakeOperations();
    private AdminServer server;
    private InetSocketAddress address;

    @BeforeEach
    void start() throws IOException {
        server = new AdminServer(operations);
        List<AdminAddress> bound = server.start(List.of(loopback()));
        address = ((AdminAddress.Tcp) bound.get(0)).address();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    static AdminAddress loopback() {
        return AdminAddress.tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    private String get(String target) throws IOException {
        return ask("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    }

    private String ask(String request) throws IOException {
        return RawClient.ask(address, request);
    }

    private static void assertStatus(int status, String response) {
        assertTrue(response.startsWith("HTTP/1.1 " + status + " "), response);
    }

    private static void assertProblem(int status, String response) {
        assertStatus(status, response);
        assertTrue(response.contains("content-type: application/problem+json\r\n"), response);
        assertTrue(response.contains("\"status\":" + status), response);
    }

    @Test
    void livezAnswersWhileTheLoopLives() throws IOException {
        String response = get("/livez");

        assertStatus(200, response);
        assertTrue(response.endsWith("\r\n\r\nlive\n"), response);
    }

    @Test
    void readyzIsReadyWhenAFrontendHasACandidate() throws IOException {
        operations.readiness = new Readiness(
                Readiness.State.READY,
                List.of(
                        new Readiness.FrontendReadiness("edge", true),
                        new Readiness.FrontendReadiness("inner", false)));

        String response = get("/readyz");

        assertStatus(200, response);
        assertTrue(
                response.endsWith("{\"ready\":true,\"state\":\"ready\",\"without_candidate\":[\"inner\"]}\n"),
                response);
    }

    @Test
    void readyzOfANamedFrontendLooksAtThatOneAlone() throws IOException {
        operations.readiness = new Readiness(
                Readiness.State.READY,
                List.of(
                        new Readiness.FrontendReadiness("edge", true),
                        new Readiness.FrontendReadiness("in ner", false)));

        assertStatus(200, get("/readyz?frontend=edge"));
        String response = get("/readyz?frontend=in%20ner");

        assertStatus(503, response);
        assertTrue(response.endsWith("\"without_candidate\":[\"in ner\"]}\n"), response);
    }

    @Test
    void readyzOfAnUnknownFrontendIsNotFound() throws IOException {
        assertProblem(404, get("/readyz?frontend=nowhere"));
        assertProblem(400, get("/readyz?frontend=edge&frontend=nowhere"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"STARTING", "DRAINING"})
    void readyzSaysWhyItIsNot(String state) throws IOException {
        operations.readiness =
                new Readiness(Readiness.State.valueOf(state), List.of(new Readiness.FrontendReadiness("edge", true)));

        String response = get("/readyz");

        assertStatus(503, response);
        assertTrue(response.contains("\"ready\":false,\"state\":\"" + state.toLowerCase(Locale.ROOT)), response);
    }

    @Test
    void readyzWithoutAnyFrontendIsNotReady() throws IOException {
        operations.readiness = new Readiness(Readiness.State.READY, List.of());

        assertStatus(503, get("/readyz"));
    }

    @Test
    void metricsComeAsPrometheusTextUnlessOpenMetricsIsWanted() throws IOException {
        String plain = get("/metrics");
        String open = ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: "
                + "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1\r\n\r\n");
        String less = ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: "
                + "application/openmetrics-text;q=0.2, text/plain\r\n\r\n");

        assertTrue(plain.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), plain);
        assertTrue(plain.endsWith("PROMETHEUS_TEXT up 1\n"), plain);
        assertTrue(open.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"), open);
        assertTrue(open.endsWith("OPENMETRICS up 1\n"), open);
        assertTrue(less.endsWith("PROMETHEUS_TEXT up 1\n"), less);
    }

    @Test
    void headHasTheHeadOfGetAndNoBody() throws IOException {
        String response = ask("HEAD /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        assertStatus(200, response);
        assertTrue(response.contains("content-length: 5\r\n"), response);
        assertTrue(response.endsWith("\r\n\r\n"), response);
    }

    // envoyproxy/envoy#2769: a GET changed state, and a web page could send it.
    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"})
    void onlyReadingIsKnown(String method) throws IOException {
        for (String path : List.of("/livez", "/readyz", "/metrics")) {
            String response = ask(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

            assertProblem(405, response);
            assertTrue(response.contains("allow: GET, HEAD\r\n"), response);
        }
    }

    // envoyproxy/envoy#2296: a crawler followed links that changed state. Here nothing but the table is there.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/quitquitquit",
                "/livez/",
                "/LIVEZ",
                "//livez",
                "/livez%00",
                "/v1",
                "/v1/status/",
                "/v1/{id}",
                "/V1/status"
            })
    void otherPathsAreNotFound(String path) throws IOException {
        assertProblem(404, get(path));
    }

    @Test
    void aFaultInsideIsAProblemWithoutDetails() throws IOException {
        operations.failure = new IllegalStateException("secret");

        String response = get("/readyz");

        assertProblem(500, response);
        assertFalse(response.contains("secret"), response);
        assertStatus(200, get("/livez"));
    }

    @Test
    void aConnectionServesOneRequestAfterAnother() throws IOException {
        try (RawClient client = new RawClient(address)) {
            String request = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
            client.send(request);
            client.readUntil("live\n");
            client.send(request + request);
            client.readUntil("live\n");
            client.readUntil("live\n");
            client.send("GET /livez HTTP/1.0\r\n\r\n");

            String last = client.readToEnd();

            assertTrue(last.contains("connection: close\r\n") && last.endsWith("live\n"), last);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example",
                "localhost.evil.example",
                "127.0.0.1.evil.example:80",
                "10.0.0.1",
                "[::2]:9000",
                "localhost:80x",
                ""
            })
    void aForeignHostIsMisdirected(String host) throws IOException {
        assertProblem(421, ask("GET /livez HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LocalHost:9000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:9000"})
    void loopbackNamesAreItsHosts(String host) throws IOException {
        assertStatus(200, ask("GET /livez HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://evil.example", "null", "https://localhost:9000", "http://localhost"})
    void aForeignOriginIsForbidden(String origin) throws IOException {
        String head = " /livez HTTP/1.1\r\nHost: localhost:9000\r\nOrigin: " + origin + "\r\nConnection: close\r\n";

        assertProblem(403, ask("GET" + head + "\r\n"));
        assertProblem(403, ask("POST" + head + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}"));
    }

    @Test
    void itsOwnOriginMayAsk() throws IOException {
        String origin = "http://localhost:9000";

        assertStatus(
                200,
                ask("GET /livez HTTP/1.1\r\nHost: localhost:9000\r\nOrigin: " + origin
                        + "\r\nConnection: close\r\n\r\n"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /livez HTTP/1.1\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: +1\r\n\r\na",
                "GET /livez HTTP/1.1\r\nHost : localhost\r\n\r\n",
                "GET /livez HTTP/1.1\nHost: localhost\n\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nBad\u0000Name: x\r\n\r\n",
                "GET http://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /readyz?frontend=%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                "POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tb\r\n\r\n",
                "GET /livez HTTP/1.1\r\n Host: localhost\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1, 1\r\n\r\na",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
                "rubbish\r\n\r\n"
            })
    void whatCanBeReadInTwoWaysIsRefused(String request) throws IOException {
        assertProblem(400, ask(request));
    }

    @Test
    void aFoldedLineIsSeenHoweverTheBytesComeAndInAnyRequest() throws IOException {
        try (RawClient client = new RawClient(address)) {
            client.send("POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n\n \r\n");
            client.readUntil("GET, HEAD\"}\n"); // a body may look like one
            for (String part : List.of("GET /livez HTTP/1.1\r\nHo", "st: localhost\r\n", " folded\r\n\r\n")) {
                client.send(part);
            }

            assertProblem(400, client.readToEnd());
        }
    }

    @Test
    void otherVersionsCodingsAndExpectationsAreRefused() throws IOException {
        assertProblem(505, ask("GET /livez HTTP/2.0\r\nHost: localhost\r\n\r\n"));
        assertProblem(501, ask("POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"));
        assertProblem(417, ask("GET /livez HTTP/1.1\r\nHost: localhost\r\nExpect: cake\r\n\r\n"));
    }

    // yetanotherco/aligned_layer#1274: a port without limits.
    @Test
    void headersBeyondEightKibibytesAreRefused() throws IOException {
        String fits =
                "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + "x".repeat(8000) + "\r\n\r\n";

        assertStatus(200, ask(fits));
        assertProblem(431, ask("GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(9000) + "\r\n\r\n"));
        assertProblem(
                431, ask("GET /livez HTTP/1.1\r\nHost: localhost\r\n" + "X: xxxxxxxx\r\n".repeat(90_000) + "\r\n"));
        assertProblem(414, ask("GET /" + "x".repeat(9000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    }

    @Test
    void bodiesBeyondAMebibyteAreRefusedAtOnce() throws IOException {
        String head = "POST /livez HTTP/1.1\r\nHost: localhost\r\n";

        assertProblem(413, ask(head + "Content-Length: 1073741824\r\n\r\n" + "x".repeat(100_000)));
        assertProblem(413, ask(head + "Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n"));
        assertProblem(
                413,
                ask(head + "Transfer-Encoding: chunked\r\n\r\n"
                        + ("1000\r\n" + "x".repeat(4096) + "\r\n").repeat(300)));
        String fits = ask(head + "Connection: close\r\nContent-Length: 1048576\r\n\r\n" + "x".repeat(1_048_576));
        assertProblem(405, fits);
    }

    @Test
    void anAnnouncedBodyIsNotAskedForWhenItWouldBeRefused() throws IOException {
        assertProblem(
                405,
                ask("POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
    }

    @Test
    void endlessExtensionsAndTrailersOfChunksAreRefusedEarly() throws IOException {
        String head = "POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";

        assertProblem(414, ask(head + "1;" + "x".repeat(100_000)));
        assertProblem(431, ask(head + "0\r\n" + "X: xxxxxxxx\r\n".repeat(10_000)));
        assertProblem(400, ask(head + "FFFFFFFFFFFFFFFF\r\n"));
    }

    @Test
    void nothingButLoopbackIsListenedOn() {
        try (AdminServer other = new AdminServer(operations)) {
            AdminAddress everywhere = AdminAddress.tcp(new InetSocketAddress("0.0.0.0", 0));

            IOException refused = assertThrows(IOException.class, () -> other.start(List.of(everywhere)));

            assertEquals(
                    "admin address \"0.0.0.0:0\" is not a loopback address, and beyond loopback TLS and tokens are needed;"
                            + " set admin.tls and admin.token-file, or use 127.0.0.1, [::1] or a unix: path",
                    refused.getMessage());
        }
    }

    @Test
    void aPortInUseIsSaidPlainlyAndNothingStaysOpen() throws IOException {
        AdminServer other = new AdminServer(operations);

        IOException refused =
                assertThrows(IOException.class, () -> other.start(List.of(loopback(), AdminAddress.tcp(address))));

        assertTrue(refused.getMessage().contains("cannot listen: Address already in use"), refused.getMessage());
        assertEquals(List.of(), other.addresses());
    }

    @Test
    void afterTheEndNobodyListens() throws IOException {
        server.close();

        assertThrows(IOException.class, () -> get("/livez"));
    }
}
