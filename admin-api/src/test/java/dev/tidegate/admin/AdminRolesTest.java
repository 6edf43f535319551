package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may do what: a walk over every route with every role, and with none. */
final class AdminRolesTest {
    private static final Map<String, Role> TOKENS = Map.of(
            "",
            Role.ANYONE,
            "unknown-token-0123456789",
            Role.ANYONE,
            TestServer.VIEWER,
            Role.VIEWER,
            TestServer.OPERATOR,
            Role.OPERATOR,
            TestServer.ADMIN,
            Role.ADMIN);

    @TempDir
    Path directory;

    static String target(Route route) {
        return route.template()
                .replace("{frontend}", "edge")
                .replace("{backend}", "web")
                .replace("{endpoint}", "a")
                .replace("{id}", "op-1");
    }

    /** A body that the route takes. */
    static String body(Route route) {
        return switch (route.id()) {
            case "setLogLevel" -> "{\"level\":\"debug\"}";
            case "setWeight" -> "{\"weight\":5}";
            case "addEndpoint" -> "{\"name\":\"b\",\"address\":\"127.0.0.1:81\"}";
            default -> "";
        };
    }

    @Test
    void everyRouteServesWhoeverHasItsRoleAndNobodyElse() throws IOException {
        try (TestServer server = new TestServer(directory)) {
            for (Route route : Routes.of(server.operations, Runnable::run, new Scrapes(new FakeOperations()))) {
                for (Map.Entry<String, Role> token : TOKENS.entrySet()) {
                    Role role = token.getValue();
                    boolean may = role.covers(route.role()) || route.id().equals("metrics");
                    int before = server.operations.commands.size();

                    Asker.Answered answered =
                            server.as(token.getKey()).head(route.method().name(), target(route), body(route));

                    String what = route + " as " + role + ": " + answered;
                    if (may) {
                        assertTrue(answered.status() < 300, what);
                    } else if (role == Role.ANYONE) {
                        assertEquals(401, answered.status(), what);
                        assertTrue(answered.header("www-authenticate").startsWith("Bearer realm=\"tidegate\""), what);
                    } else {
                        assertEquals(403, answered.status(), what);
                    }
                    int writes = may && !route.method().equals(HttpMethod.GET) ? 1 : 0;
                    assertEquals(before + writes, server.operations.commands.size(), what);
                }
            }
        }
    }

    // envoyproxy/envoy#2769: a GET that changed state.
    @Test
    void readingAnythingChangesNothing() throws IOException {
        try (TestServer server = new TestServer(directory)) {
            for (Route route : Routes.of(server.operations, Runnable::run, new Scrapes(new FakeOperations()))) {
                server.admin().head("GET", target(route), "");
                server.admin().head("HEAD", target(route), "");
            }

            assertEquals(List.of(), server.operations.commands);
        }
    }

    @Test
    void withoutTokensTcpServesReadsOnly() throws IOException {
        FakeOperations operations = new FakeOperations();
        try (AdminServer server = new AdminServer(operations, TestServer.LIMITS)) {
            InetSocketAddress address = ((AdminAddress.Tcp)
                            server.start(List.of(TestServer.loopback())).get(0))
                    .address();
            for (Route route : Routes.of(operations, Runnable::run, new Scrapes(new FakeOperations()))) {
                for (String token : TOKENS.keySet()) {
                    Asker.Answered answered =
                            new Asker(address, token).head(route.method().name(), target(route), body(route));

                    assertEquals(route.isWrite() ? 403 : 200, answered.status(), route + ": " + answered);
                }
            }
            assertEquals(List.of(), operations.commands);
        }
    }

    @Test
    void whoeverCanOpenTheSocketIsAdmin() throws IOException {
        FakeOperations operations = new FakeOperations();
        Path path = directory.resolve("admin.sock");
        try (AdminServer server = new AdminServer(operations, TestServer.LIMITS)) {
            server.start(List.of(AdminAddress.unix(path)));
            for (Route route : Routes.of(operations, Runnable::run, new Scrapes(new FakeOperations()))) {
                if (route.isWrite()) {
                    String request = new Asker(null, "").request(route.method().name(), target(route), body(route));

                    String answer = AdminUnixSocketTest.ask(path, request);

                    assertTrue(answer.startsWith("HTTP/1.1 2"), route + ": " + answer);
                }
            }
            assertEquals("admin unix", operations.contexts.get(0).actor());
        }
    }

    @Test
    @Tag("slow")
    void metricsBeyondLoopbackNeedAToken() throws IOException, InterruptedException {
        FakeOperations operations = new FakeOperations();
        TlsFixture files = TlsFixture.make(directory);
        InetAddress outside = InetAddress.getByName("127.0.0.2"); // still this machine, but here it counts as outside
        try (AdminServer server = new AdminServer(operations, TestServer.LIMITS, address -> !address.equals(outside))) {
            AdminSettings settings = new AdminSettings(
                    List.of(AdminAddress.tcp(new InetSocketAddress(outside, 0))),
                    java.util.Optional.of(TestServer.tokens(directory)),
                    java.util.Optional.of(files.server()));
            InetSocketAddress address =
                    ((AdminAddress.Tcp) server.start(settings).get(0)).address();

            assertEquals(401, files.get(address, "/metrics", "").statusCode());
            assertEquals(200, files.get(address, "/metrics", TestServer.VIEWER).statusCode());
            assertEquals(200, files.get(address, "/livez", "").statusCode());
        }
    }

    @Test
    void onlyABearerTokenIsOne() throws IOException {
        try (TestServer server = new TestServer(directory)) {
            for (String header : List.of(
                    "Authorization: Basic " + TestServer.ADMIN,
                    "Authorization: Bearer",
                    "Authorization: Bearer  ",
                    "Authorization: " + TestServer.ADMIN,
                    "Authorization: Bearer " + TestServer.ADMIN + "x",
                    "Authorization: Bearer " + TestServer.ADMIN + "\r\nAuthorization: Bearer " + TestServer.ADMIN)) {
                Asker.Answered answered = server.as("").ask("GET", "/v1/status", "", header);

                assertEquals(401, answered.status(), header);
                assertTrue(answered.header("www-authenticate").contains("invalid_token"), answered.toString());
            }
            assertEquals(
                    200,
                    server.as("")
                            .ask("GET", "/v1/status", "", "Authorization: bearer " + TestServer.VIEWER)
                            .status());
        }
    }

    @Test
    void aTokenTakenBackIsNoGoodAfterARefresh() throws IOException {
        try (TestServer server = new TestServer(directory)) {
            assertEquals(200, server.as(TestServer.VIEWER).get("/v1/status").status());
            Files.writeString(server.tokenFile, "admin " + TestServer.ADMIN + "\n");

            server.server.refresh();

            assertEquals(401, server.as(TestServer.VIEWER).get("/v1/status").status());
            assertEquals(200, server.admin().get("/v1/status").status());
        }
    }

    @Test
    void aRefusalTellsNoToken() throws IOException {
        try (TestServer server = new TestServer(directory)) {
            Asker.Answered low = server.as(TestServer.VIEWER).ask("POST", "/v1/reload", "");

            assertEquals(
                    "the token's role is viewer; POST /v1/reload needs admin",
                    low.json().get("detail").asText());
            assertFalse(low.body().contains(TestServer.VIEWER), low.body());
        }
    }
}
