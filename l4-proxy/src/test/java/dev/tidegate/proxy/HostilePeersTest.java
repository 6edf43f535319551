package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Fds;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;

/** Peers that keep to no manners: the books still balance, the bytes are still the same. */
class HostilePeersTest {
    private static final int MIB = 1024 * 1024;
    private static final byte[] TLS_HELLO = {22, 3, 1, 0, 4, 1, 0, 0, 0};

    /** A byte slicer on both sides, as Toxiproxy has one. */
    @EachTransport
    @Tag("slow")
    void segmentsOfOneByteArriveWholeBothWays(Wish transport) throws IOException {
        sliced(transport, 2000);
    }

    @Tag("nightly")
    @EachTransport
    void aMillionSegmentsOfOneByteArriveWholeBothWays(Wish transport) throws IOException {
        sliced(transport, 1_000_000);
    }

    private static void sliced(Wish transport, int count) throws IOException {
        byte[] up = SeededStream.bytes(1, count);
        byte[] down = SeededStream.bytes(2, count);
        Duration pause = Duration.ofNanos(50_000);
        try (var backend = ScriptedBackend.start(c -> {
                    assertArrayEquals(up, c.readExactly(count));
                    c.sendSliced(down, pause);
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            client.sendSliced(up, pause);
            assertArrayEquals(down, client.readExactly(count));
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.channel().close();
            assertEquals(count, proxy.awaitOnlyRecord().bytesSent);
        }
    }

    @EachTransport
    @Tag("slow")
    void randomBytesAtTheListenerLeaveNothingBehind(Wish transport) throws IOException {
        randomClients(transport, 300);
    }

    @Tag("nightly")
    @EachTransport
    void aHundredThousandRandomClientsLeaveNothingBehind(Wish transport) throws IOException {
        randomClients(transport, 100_000);
    }

    private static void randomClients(Wish transport, int clients) throws IOException {
        Random random = new Random(9);
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            try (ScriptedClient first = proxy.connect()) {
                first.send("warm");
                first.readExactly(4);
            }
            proxy.awaitNoConnections();
            backend.awaitAllDone();
            int fds = Fds.countInThisJvm();
            for (int i = 0; i < clients; i++) {
                if (i % 200 == 0) {
                    // They come faster than they are served, and shall not be refused for their number.
                    Await.until("room for more", () -> proxy.active() < 500);
                }
                try (ScriptedClient client = proxy.connect()) {
                    sendSomething(client, random);
                }
            }
            Await.equal("connections closed", clients + 1L, proxy::closed);
            backend.awaitAllDone();
            Await.until("descriptors are back", () -> Fds.countInThisJvm() <= fds + 2);
        }
    }

    private static void sendSomething(ScriptedClient client, Random random) throws IOException {
        switch (random.nextInt(4)) {
            case 0 -> client.send(SeededStream.bytes(random.nextLong(), random.nextInt(4096)));
            case 1 -> client.send(TLS_HELLO);
            case 2 -> client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            default -> client.shutdownOutput();
        }
        if (random.nextInt(3) == 0) {
            client.reset();
        }
    }

    /** Envoy holds untrusted upstreams to be in scope: one that speaks first, closes at once, or floods. */
    @EachTransport
    @Tag("slow")
    void anEndpointThatClosesAtOnceGivesTheClientItsEnd(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(c -> {});
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int i = 0; i < 50; i++) {
                try (ScriptedClient client = proxy.connect()) {
                    End end = client.readToEnd();
                    assertEquals(End.Kind.FIN, end.kind());
                    assertEquals(0, end.bytes());
                }
            }
            Await.equal("connections closed", 50L, proxy::closed);
        }
    }

    @EachTransport
    void anEndpointThatSpeaksFirstIsHeard(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.greet("220 ready".getBytes(StandardCharsets.US_ASCII))
                        .then(Scripts.echo()));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            assertEquals("220 ready", client.readText(9));
            client.send("HELO");
            assertEquals("HELO", client.readText(4));
        }
    }

    @EachTransport
    @Tag("slow")
    void anEndpointThatFloodsUnaskedIsHeldToTheClientsPace(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(Scripts.streamForever(4));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            client.skip(64L * MIB);
            ResetTest.awaitBlocked(backend.connection(0));

            long held = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
            assertTrue(held < 3L * MIB, () -> held + " bytes held");
            assertEquals(SeededStream.sha256(4, 64L * MIB), client.sha256());
            client.reset();
            proxy.awaitNoConnections();
        }
    }

    /** Urgent data is dropped by the kernel's default (it is out of band), and breaks nothing. */
    @EachTransport
    void urgentDataFromAnEndpointBreaksNothing(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.start(c -> {
                    c.send("before");
                    c.channel().socket().sendUrgentData('!');
                    c.send("after");
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            assertEquals("beforeafter", client.readText(11));
            assertEquals(End.Kind.FIN, client.readToEnd().kind());
        }
    }

    /** Fewer bytes than a client will ever read, and a reset while it still sends. */
    @EachTransport
    void anEndpointThatResetsEachClientAtARandomByteLeavesNothingBehind(Wish transport) throws IOException {
        int rounds = 60;
        try (var backend = ScriptedBackend.start(c -> {
                    c.readExactly(1 + (c.index() * 37) % 5000);
                    c.reset();
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            for (int i = 0; i < rounds; i++) {
                try (ScriptedClient client = proxy.connect()) {
                    client.sendSeeded(i, 20_000);
                    assertEquals(End.Kind.RST, client.readToEnd().kind());
                } catch (PeerGoneException cutWhileSending) {
                    assertEquals(dev.tidegate.testkit.Ending.RST, cutWhileSending.ending());
                }
            }
            Await.equal("connections closed", (long) rounds, proxy::closed);
        }
    }
}
