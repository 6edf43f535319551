package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Fitness;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import dev.tidegate.testkit.Sockets;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How an endpoint is reached, and what a client sees when none can be, on every transport. */
class DialingTest {
    /** linkerd/linkerd#2369: attempts went on for hours; yyyar/gobetween#172: accepted, and never forwarded. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void attemptsOverBlackHolesEndAtTheDeadlineAndTheClientIsReset(Wish transport) throws Exception {
        try (var one = ScriptedBackend.blackHole();
                var two = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(one)
                        .endpoint(two)
                        .connect("{timeout: 200ms, attempts: 10, deadline: 500ms}")
                        .start();
                var client = proxy.connect()) {
            assertEquals(End.Kind.RST, client.readToEnd().kind());

            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.DIAL_TIMEOUT, record.reason);
            assertEquals(3, record.attempts);
            assertTrue(record.durationNanos >= 500_000_000L, "after " + record.durationNanos + " ns");
            assertEquals(3, connects(proxy, ConnectResult.TIMEOUT));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aBlackHoleCostsOneTimeOutAndTheClientIsServedElsewhere(Wish transport) throws Exception {
        try (var hole = ScriptedBackend.blackHole();
                var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(hole)
                        .endpoint(backend)
                        .connect("{timeout: 200ms}")
                        .start();
                var client = proxy.connect()) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            client.shutdownOutput();
            client.readToEnd();

            assertEquals(2, proxy.awaitOnlyRecord().attempts);
            assertEquals(1, connects(proxy, ConnectResult.TIMEOUT));
            assertEquals(1, connects(proxy, ConnectResult.OK));
        }
    }

    /** linkerd/linkerd#2369: the client had gone, and attempts went on. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void attemptsStopWhenTheClientHasGone(Wish transport) throws Exception {
        try (var hole = ScriptedBackend.blackHole();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(hole)
                        .connect("{timeout: 1m, attempts: 10, deadline: 5m}")
                        .start();
                var client = proxy.connect()) {
            Await.until("an attempt", () -> proxy.cell(0).inFlight() == 1);
            client.reset();

            assertEquals(CloseReason.CLIENT_RESET, proxy.awaitOnlyRecord().reason);
            assertEquals(0, proxy.cell(0).inFlight());
            assertEquals(1, connects(proxy, ConnectResult.CANCELLED));
            Await.until(
                    "no connect is left under way",
                    () -> Sockets.count(Sockets.State.SYN_SENT, Sockets.towards(hole.address())) == 0);
        }
    }

    /** haproxy/haproxy#881: attempts that were given up stayed half-open and the endpoint paid for them. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void anAttemptThatTimedOutIsClosed(Wish transport) throws Exception {
        try (var hole = ScriptedBackend.blackHole();
                var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(hole)
                        .endpoint(backend)
                        .connect("{timeout: 50ms}")
                        .start()) {
            List<ScriptedClient> clients = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                clients.add(proxy.connect());
            }
            for (ScriptedClient client : clients) {
                client.send("ping");
                assertEquals("ping", client.readText(4));
            }
            Await.until(
                    "no connect is left under way",
                    () -> Sockets.count(Sockets.State.SYN_SENT, Sockets.towards(hole.address())) == 0);
            assertEquals(0, proxy.cell(0).inFlight());
            clients.forEach(ScriptedClient::close);
            proxy.awaitNoConnections();
        }
    }

    /** envoyproxy/envoy#6291: connects were tried again without a pause between them. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void anEndpointThatRefusesIsTriedAgainAfterGrowingPauses(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.refusing();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{timeout: 1s, attempts: 5, deadline: 10s}")
                        .start();
                var client = proxy.connect()) {
            assertEquals(End.Kind.RST, client.readToEnd().kind());

            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.DIAL_REFUSED, record.reason);
            assertEquals(5, record.attempts);
            // 50, 100, 200 and 400 ms, each at least half.
            assertTrue(record.durationNanos >= 375_000_000L, "after " + record.durationNanos + " ns");
        }
    }

    /** A refusing endpoint hides behind the retries, and shows in its counters. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void noClientFailsWhileOneEndpointAnswersAndFirstFailuresAreCounted(Wish transport) throws Exception {
        int clients = 200;
        try (var refusing = ScriptedBackend.refusing();
                var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(refusing)
                        .endpoint(backend)
                        .start()) {
            for (int i = 0; i < clients; i++) {
                try (var client = proxy.connect()) {
                    client.send("ping");
                    assertEquals("ping", client.readText(4));
                }
            }
            proxy.awaitNoConnections();
            Await.until("all are logged", () -> proxy.records().size() == clients);

            assertEquals(clients, connects(proxy, ConnectResult.OK));
            long refused = connects(proxy, ConnectResult.REFUSED);
            // Five in a row eject it; until then it had its share of first attempts, and afterwards none.
            assertTrue(refused >= 5 && refused < clients / 3, "refused: " + refused);
            assertTrue(proxy.cell(0).fitness().unfit(Fitness.Unfit.EJECTED));
            assertEquals(
                    refused,
                    proxy.records().stream().mapToInt(r -> r.attempts - 1).sum());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void bytesThatCameBeforeTheEndpointAnsweredReachItFirst(Wish transport) throws Exception {
        try (var hole = ScriptedBackend.blackHole();
                var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(hole)
                        .endpoint(backend)
                        .connect("{timeout: 300ms}")
                        .start();
                var client = proxy.connect()) {
            client.sendSeeded(4, 200_000);
            Await.until("all is there", () -> backend.connection(0).bytesReceived() == 200_000);

            assertEquals(SeededStream.sha256(4, 200_000), backend.connection(0).sha256());
            assertEquals(1, connects(proxy, ConnectResult.TIMEOUT));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void proxyHeaderV1TellsTheClientsAddress(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{proxy-protocol: v1}")
                        .start();
                var client = proxy.connect()) {
            client.send("payload");
            String header = "PROXY TCP4 127.0.0.1 127.0.0.1 "
                    + client.localAddress().getPort() + " " + proxy.address().getPort() + "\r\n";

            assertEquals(header + "payload", client.readText(header.length() + 7));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void proxyHeaderV1OverIpv6(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .listen("[::1]:0")
                        .endpoint(backend)
                        .connect("{proxy-protocol: v1}")
                        .start();
                var client = proxy.connect()) {
            client.send("payload");
            String start = "PROXY TCP6 ";
            assertEquals(start, client.readText(start.length()));
            StringBuilder rest = new StringBuilder();
            while (rest.indexOf("payload") < 0) {
                rest.append(client.readText(1));
            }
            String[] fields = rest.toString().split("[ \r]", -1);
            assertTrue(isLoopback(fields[0]), fields[0]);
            assertTrue(isLoopback(fields[1]), fields[1]);
            assertEquals(client.localAddress().getPort(), Integer.parseInt(fields[2]));
            assertEquals(proxy.address().getPort(), Integer.parseInt(fields[3]));
            assertEquals("\npayload", fields[4]);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void proxyHeaderV2TellsTheClientsAddressInBytes(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{proxy-protocol: v2}")
                        .start();
                var client = proxy.connect()) {
            client.send("payload");
            String header = "0d0a0d0a000d0a515549540a" + "21" + "11" + "000c" + "7f000001" + "7f000001"
                    + HexFormat.of().toHexDigits((short) client.localAddress().getPort())
                    + HexFormat.of().toHexDigits((short) proxy.address().getPort());

            assertEquals(header, HexFormat.of().formatHex(client.readExactly(28)));
            assertEquals("payload", client.readText(7));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void proxyHeaderV2OverIpv6(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .listen("[::1]:0")
                        .endpoint(backend)
                        .connect("{proxy-protocol: v2}")
                        .start();
                var client = proxy.connect()) {
            client.send("payload");
            String one = "00000000000000000000000000000001";
            String header = "0d0a0d0a000d0a515549540a" + "21" + "21" + "0024" + one + one
                    + HexFormat.of().toHexDigits((short) client.localAddress().getPort())
                    + HexFormat.of().toHexDigits((short) proxy.address().getPort());

            assertEquals(header, HexFormat.of().formatHex(client.readExactly(52)));
            assertEquals("payload", client.readText(7));
        }
    }

    /** An endpoint that speaks first must not wait for the client to learn who it is. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void theProxyHeaderComesWithoutAByteFromTheClient(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.greet("220 hello".getBytes(StandardCharsets.ISO_8859_1))
                        .then(Scripts.readToEnd()));
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .connect("{proxy-protocol: v1}")
                        .start();
                var client = proxy.connect()) {
            assertEquals("220 hello", client.readText(9));
            Await.until(
                    "the header is there",
                    () -> backend.connection(0).firstText().endsWith("\r\n"));
            client.shutdownOutput();
            client.readToEnd();

            assertEquals(Ending.FIN, backend.connection(0).ending());
            assertEquals(0, proxy.awaitOnlyRecord().bytesReceived);
        }
    }

    private static boolean isLoopback(String v6) throws UnknownHostException {
        return v6.contains(":") && InetAddress.getByName(v6).isLoopbackAddress();
    }

    private static long connects(ProxyFixture proxy, ConnectResult result) {
        long sum = 0;
        for (var counters : proxy.proxy().counters()) {
            for (var endpoint : proxy.frontend().backend().endpoints().all()) {
                var row = counters.readEndpoint(endpoint.cell().slot());
                sum += row == null ? 0 : row.connects(result);
            }
        }
        return sum;
    }
}
