package dev.tidegate.admin;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The stream of events. */
final class AdminEventsTest {
    private static final Duration BOUND = Duration.ofSeconds(10);

    @TempDir
    Path directory;

    private TestServer server;
    private final List<RawClient> clients = new ArrayList<>();

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        server.close();
    }

    private void start(AdminLimits limits) throws IOException {
        server = new TestServer(directory, limits);
    }

    /** Follows, and is followed by the proxy when this returns. */
    private RawClient follow(String query, String... headers) throws IOException {
        RawClient client = new RawClient(server.address());
        clients.add(client);
        client.send(server.as(TestServer.VIEWER).request("GET", "/v1/events" + query, "", headers));
        String head = client.readUntil("\r\n\r\n");
        assertTrue(head.startsWith("HTTP/1.1 200 "), head);
        assertTrue(head.contains("content-type: text/event-stream\r\n"), head);
        assertTrue(head.contains("transfer-encoding: chunked\r\n"), head);
        client.readUntil(": tidegate events\n\n");
        return client;
    }

    @Test
    void eventsAreToldToEveryFollowerAsTheyCome() throws IOException {
        start(TestServer.LIMITS);
        RawClient one = follow("");
        RawClient two = follow("");

        server.operations.tell(FakeOperations.event(5, "two\nlines"));

        for (RawClient client : List.of(one, two)) {
            String event = client.readUntil("\n\n");
            assertTrue(event.contains("id: 5\nevent: endpoint-state\ndata: {"), event);
            JsonNode data = Json.MAPPER.readTree(event.substring(event.indexOf("data: ") + 6));
            assertEquals("two\nlines", data.get("message").asText());
            assertEquals("2026-01-02T03:04:05Z", data.get("time").asText());
            assertEquals("a", data.get("fields").get("endpoint").asText());
        }
        assertEquals(1, server.operations.followers.size());
    }

    @Test
    void whoeverAsksIsToldTheLastOnesFirstAndNoneTwice() throws IOException {
        start(TestServer.LIMITS);
        server.operations.recent = List.of(
                FakeOperations.event(1, "one"), FakeOperations.event(2, "two"), FakeOperations.event(3, "three"));
        RawClient client = new RawClient(server.address());
        clients.add(client);
        client.send(server.as(TestServer.VIEWER).request("GET", "/v1/events?recent=2", ""));
        String before = client.readUntil("three\",\"fields\":{\"endpoint\":\"a\"}}\n\n");

        server.operations.tell(FakeOperations.event(3, "three"));
        server.operations.tell(FakeOperations.event(4, "four"));
        String after = client.readUntil("\n\n");

        assertTrue(before.contains("id: 2\n") && before.contains("id: 3\n") && !before.contains("id: 1\n"), before);
        assertTrue(after.contains("id: 4\n") && !after.contains("id: 3\n"), after);
    }

    @Test
    void whoeverComesBackIsToldWhatWasMissed() throws IOException {
        start(TestServer.LIMITS);
        server.operations.recent = List.of(
                FakeOperations.event(1, "one"), FakeOperations.event(2, "two"), FakeOperations.event(3, "three"));
        RawClient client = new RawClient(server.address());
        clients.add(client);
        client.send(server.as(TestServer.VIEWER).request("GET", "/v1/events", "", "Last-Event-ID: 1"));

        String missed = client.readUntil("three\",\"fields\":{\"endpoint\":\"a\"}}\n\n");

        assertTrue(missed.contains("id: 2\n") && !missed.contains("id: 1\n"), missed);
    }

    @Test
    void theStateOfEverythingIsToldAgainAndAgainIfThatIsWanted() throws IOException {
        start(TestServer.LIMITS);
        RawClient client = follow("?stats=250ms");

        for (int i = 0; i < 2; i++) {
            String stats = client.readUntil("\n\n");

            assertTrue(stats.contains("event: stats\ndata: {") && !stats.contains("id:"), stats);
            JsonNode data = Json.MAPPER.readTree(stats.substring(stats.indexOf("data: ") + 6));
            assertEquals(7, data.get("status").get("generation").asInt());
            assertEquals("edge", data.get("frontends").get(0).get("name").asText());
            assertEquals("web", data.get("backends").get(0).get("name").asText());
        }
    }

    @Test
    void aQuietStreamShowsThatItLivesAndHasNoTimeLimit() throws IOException {
        start(TestServer.LIMITS.withHeartbeat(Duration.ofMillis(50)).withRequestTime(Duration.ofMillis(200)));
        RawClient client = follow("");

        for (int i = 0; i < 8; i++) { // twice the time that a request has
            client.readUntil(": still here\n\n");
        }
    }

    @Test
    void whenTheLastFollowerHasGoneNobodyFollowsTheProxy() throws IOException {
        start(TestServer.LIMITS);
        RawClient one = follow("");
        RawClient two = follow("");

        one.close();
        two.close();

        await().atMost(BOUND).until(() -> server.operations.followers.isEmpty());
    }

    @Test
    void atMostSixteenFollow() throws IOException {
        start(TestServer.LIMITS);
        for (int i = 0; i < 16; i++) {
            follow("");
        }

        Asker.Answered refused = server.as(TestServer.VIEWER).get("/v1/events");

        assertEquals(503, refused.status());
        clients.get(0).close();
        await().atMost(BOUND)
                .until(() -> server.as(TestServer.VIEWER)
                                .head("GET", "/v1/events", "")
                                .status()
                        == 200);
    }

    @Test
    void aFollowerThatDoesNotTakeWhatItIsToldIsDroppedAndTheOthersAreNot() throws IOException {
        start(TestServer.LIMITS);
        RawClient slow = follow("");
        RawClient quick = follow("");
        String long1 = "x".repeat(256 * 1024);

        for (int id = 1; id <= 200; id++) {
            server.operations.tell(FakeOperations.event(id, long1));
            quick.readThrough("\"endpoint\":\"a\"}}\n\n");
        }

        await().atMost(BOUND).until(() -> server.server.connections() == 1);
        assertTrue(slow.isEndedAfterWhatIsLeft());
        server.operations.tell(FakeOperations.event(201, "after"));
        quick.readThrough("after");
    }

    @Test
    void aFollowerWhoseTokenIsTakenBackIsLetGo() throws IOException {
        start(TestServer.LIMITS.withHeartbeat(Duration.ofMillis(50)));
        RawClient client = follow("");
        Files.writeString(server.tokenFile, "admin " + TestServer.ADMIN + "\n");

        server.server.refresh();

        assertTrue(client.isEndedAfterWhatIsLeft());
    }

    @Test
    void aReadOfTheHeadAloneFollowsNothing() throws IOException {
        start(TestServer.LIMITS);

        assertEquals(
                200, server.as(TestServer.VIEWER).ask("HEAD", "/v1/events", "").status());
        assertFalse(server.operations.followers.iterator().hasNext());
    }
}
