package dev.tidegate.admin;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Limits of time and number. */
final class AdminLimitsTest {
    private static final String REQUEST = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    private final List<RawClient> clients = new ArrayList<>();
    private final FakeOperations operations = new FakeOperations();
    private AdminServer server;

    @AfterEach
    void stop() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        server.close();
    }

    private InetSocketAddress start(AdminLimits limits) throws IOException {
        server = new AdminServer(operations, limits);
        return ((AdminAddress.Tcp)
                        server.start(List.of(AdminServerTest.loopback())).get(0))
                .address();
    }

    private RawClient connect(InetSocketAddress address) throws IOException {
        RawClient client = new RawClient(address);
        clients.add(client);
        return client;
    }

    // prometheus/client_java#2284: ten slow clients tied up every thread of the metrics server.
    @Test
    @Tag("slow")
    void fiftySlowClientsDelayNobodyAndAreDroppedInTime() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(Duration.ofSeconds(2)));
        for (int i = 0; i < 50; i++) {
            connect(address).send("GET /liv");
        }
        for (RawClient slow : clients) {
            slow.send("e"); // progress that must not move the deadline
        }

        long start = System.nanoTime();
        String response = RawClient.ask(address, REQUEST);
        long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);

        assertTrue(response.endsWith("live\n"), response);
        assertTrue(tookMillis < 1000, "took " + tookMillis + " ms");
        for (RawClient slow : clients) {
            assertTrue(slow.isEnded());
        }
    }

    // netdata/netdata#3578: idle clients took all descriptors.
    @Test
    @Tag("slow")
    void connectionsBeyondTheLimitEndSoonAndTheFirstOnesStay() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(Duration.ofMinutes(5)));
        for (int i = 0; i < 64 + 20; i++) {
            connect(address);
        }

        for (RawClient beyond : clients.subList(64, 84)) {
            assertTrue(beyond.isEnded());
        }

        RawClient first = clients.get(0);
        first.send(REQUEST);
        assertTrue(first.readToEnd().endsWith("live\n"));
        await().atMost(Duration.ofSeconds(5)).until(() -> server.connections() == 63);
    }

    @Test
    void whenAllConnectionsAreTakenThereIsStillRoomToAskWhetherItLives() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(Duration.ofMinutes(5)));
        for (int i = 0; i < 64 + 20; i++) {
            connect(address);
        }

        assertTrue(RawClient.ask(address, REQUEST).endsWith("live\n"));
        String other = RawClient.ask(address, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assertTrue(other.startsWith("HTTP/1.1 503 "), other);
        assertTrue(other.contains("retry-after: 1\r\n") && other.contains("connection: close\r\n"), other);

        clients.get(0).close();
        // That place is free again, as soon as its end was seen.
        await().atMost(Duration.ofSeconds(5))
                .until(() ->
                        RawClient.ask(address, "GET /readyz HTTP/1.0\r\n\r\n").startsWith("HTTP/1.1 200 "));
    }

    @Test
    @Tag("slow")
    void aFloodIsToldToComeBackLaterAndMayStillAskWhetherItLives() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD);
        RawClient client = connect(address);
        String request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        client.send(request.repeat(2000) + REQUEST);

        String all = client.readToEnd();

        long served = all.lines().filter("HTTP/1.1 200 OK"::equals).count();
        long refused =
                all.lines().filter("HTTP/1.1 429 Too Many Requests"::equals).count();
        assertEquals(2001, served + refused);
        assertTrue(served >= 100 && refused > 0, "served " + served + " refused " + refused);
        assertTrue(all.contains("retry-after: 1\r\n"), "no Retry-After");
        assertTrue(all.endsWith("live\n"), "livez must be answered");
    }

    @Test
    void aSilentClientIsDroppedAfterTheRequestTime() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(Duration.ofMillis(100)));

        assertEquals("", connect(address).readToEnd());
    }

    @Test
    void aBodyShorterThanAnnouncedEndsWithTheRequestTime() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(Duration.ofMillis(100)));
        RawClient client = connect(address);

        client.send("POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc");

        assertEquals("", client.readToEnd());
    }

    @Test
    void aPauseBetweenRequestsIsBounded() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withIdleTime(Duration.ofMillis(100)));
        RawClient client = connect(address);

        client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");

        assertTrue(client.readToEnd().endsWith("live\n"));
    }

    @Test
    void theNextRequestHasTheRequestTimeFromItsFirstByte() throws IOException {
        InetSocketAddress address = start(
                AdminLimits.STANDARD.withRequestTime(Duration.ofMillis(300)).withIdleTime(Duration.ofMinutes(5)));
        RawClient client = connect(address);
        client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client.readUntil("live\n");

        client.send("GET /liv");

        assertEquals("", client.readToEnd());
    }

    @Test
    void aClientThatAsksWithoutReadingIsEndedAndItsAnswersAreNotPiledUp() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(Duration.ofMillis(500)));
        AtomicInteger scrapes = new AtomicInteger();
        operations.metrics = "x".repeat(16 * 1024 * 1024); // more than the sockets' buffers take
        operations.onScrape = scrapes::incrementAndGet;

        connect(address).send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500));

        await().atMost(Duration.ofSeconds(10)).until(() -> scrapes.get() > 0 && server.connections() == 0);
        assertEquals(1, scrapes.get());
    }

    @Test
    void anEndingClientThatReadsSlowlyIsLetGoAfterTheLinger() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withLingerTime(Duration.ofMillis(100)));
        RawClient client = connect(address);

        client.send(REQUEST);

        assertTrue(client.readToEnd().endsWith("live\n"));
        // Ours is still open; the server has closed its own: writing on meets a reset at last.
        await().atMost(Duration.ofSeconds(5)).until(() -> {
            try {
                client.send("x");
                return false;
            } catch (IOException e) {
                return true;
            }
        });
    }
}
