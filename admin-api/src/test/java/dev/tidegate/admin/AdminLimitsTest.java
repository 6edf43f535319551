package dev.tidegate.admin;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    /** Idle clients of a port kept the operator from the socket. */
    @Test
    void howeverManyConnectionsThereAreOverTcpTheUnixSocketHasPlacesOfItsOwn(@TempDir Path directory)
            throws IOException {
        Path socket = directory.resolve("admin.sock");
        server = new AdminServer(operations, AdminLimits.STANDARD.withRequestTime(Duration.ofMinutes(5)));
        List<AdminAddress> bound = server.start(List.of(AdminServerTest.loopback(), AdminAddress.unix(socket)));
        InetSocketAddress address = ((AdminAddress.Tcp) bound.get(0)).address();
        for (int i = 0; i < 400; i++) {
            connect(address);
        }
        String readyz = "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        await().atMost(Duration.ofSeconds(10))
                .until(() -> RawClient.ask(address, readyz).startsWith("HTTP/1.1 503 "));

        for (int i = 0; i < 10; i++) {
            String answer = AdminUnixSocketTest.ask(socket, readyz);
            assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
        }
    }

    @Test
    @Tag("slow")
    void aFloodIsToldToComeBackLaterAndMayStillAskWhetherItLives() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRate(1, 20));
        RawClient client = connect(address);
        String request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        client.send(request.repeat(25) + REQUEST);

        String all = client.readToEnd();

        long served = all.lines().filter("HTTP/1.1 200 OK"::equals).count();
        long refused =
                all.lines().filter("HTTP/1.1 429 Too Many Requests"::equals).count();
        assertEquals(26, served + refused);
        assertTrue(served >= 20 && refused > 0, "served " + served + " refused " + refused);
        assertTrue(all.contains("retry-after: 1\r\n"), "no Retry-After");
        assertTrue(all.endsWith("live\n"), "livez must be answered");
    }

    /** Each refusal cost as much as an answer, and the next one was asked for at once. */
    @Test
    void whoAsksTooOftenIsNotHeardForAMoment() throws IOException {
        InetSocketAddress address = start(AdminLimits.STANDARD.withRate(1, 2));
        RawClient client = connect(address);
        long begin = System.nanoTime();

        client.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(4) + REQUEST);
        String all = client.readToEnd();

        long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
        List<String> statuses = all.lines()
                .filter(line -> line.startsWith("HTTP/1.1 "))
                .map(line -> line.split(" ", -1)[1])
                .toList();
        assertEquals(List.of("200", "200", "429"), statuses.subList(0, 3));
        assertEquals(5, statuses.size());
        long refused = statuses.stream().filter("429"::equals).count();
        assertTrue(tookMillis >= 250 * refused, "took " + tookMillis + " ms for " + statuses);
    }

    @Test
    void aRefusalForTheRateIsAsWholeAsAnyOther() throws IOException {
        String get = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
        String[] refused = afterTheLastThatMay(get).split("\r\n\r\n", 2);
        List<String> headers = refused[0].lines().toList();
        assertEquals("HTTP/1.1 429 Too Many Requests", headers.get(0));
        assertTrue(
                headers.containsAll(List.of(
                        "content-type: application/problem+json",
                        "retry-after: 1",
                        "cache-control: no-store",
                        "x-content-type-options: nosniff",
                        "content-length: " + refused[1].length())),
                headers::toString);
        assertTrue(refused[1].contains("\"status\":429"), refused[1]);

        assertEquals(refused[0] + "\r\n\r\n", afterTheLastThatMay(get.replace("GET", "HEAD")));
        String last = afterTheLastThatMay(get.replace("1.1", "1.0"));
        assertTrue(last.startsWith("HTTP/1.1 429 ") && last.contains("connection: close\r\n"), last);
        assertTrue(last.endsWith(refused[1]), last);
    }

    /** The answer to that request right behind the one that the rate allows. */
    private String afterTheLastThatMay(String request) throws IOException {
        if (server != null) {
            server.close();
        }
        InetSocketAddress address = start(AdminLimits.STANDARD.withRate(1, 1));
        String all = RawClient.ask(address, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n" + request + REQUEST);
        return all.split("(?=HTTP/1\\.1 )", -1)[1];
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

    /** A client that had waited for a long reload was left without a word. */
    @Test
    void whatTheServerTakesForAnAnswerIsNotTheClientsTime() throws IOException {
        Duration requestTime = Duration.ofMillis(100);
        InetSocketAddress address = start(AdminLimits.STANDARD.withRequestTime(requestTime));
        operations.onStatus = CompletableFuture.delayedExecutor(4 * requestTime.toMillis(), TimeUnit.MILLISECONDS);

        String answer =
                RawClient.ask(address, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
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
    void whileMetricsAreMadeProbesAreAnsweredAndNobodyWhoAsksForThemIsLeftOut() throws Exception {
        InetSocketAddress address = start(AdminLimits.STANDARD);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        operations.onScrape = () -> {
            begun.countDown();
            try {
                assertTrue(go.await(10, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        String scrape = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        List<RawClient> scrapers = new ArrayList<>();
        scrapers.add(connect(address));
        scrapers.get(0).send(scrape);
        assertTrue(begun.await(10, TimeUnit.SECONDS));
        for (int i = 0; i < 20; i++) {
            RawClient scraper = connect(address);
            scraper.send(scrape);
            scrapers.add(scraper);
        }

        assertTrue(RawClient.ask(address, REQUEST).endsWith("live\n"));
        go.countDown();

        for (RawClient scraper : scrapers) {
            assertTrue(scraper.readToEnd().endsWith("up 1\n"));
        }
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
