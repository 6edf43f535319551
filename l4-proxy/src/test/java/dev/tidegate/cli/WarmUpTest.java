package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.listener.Transport;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.testkit.Await;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** That no descriptor is left is asserted after each test of the module. */
class WarmUpTest {
    private static final Duration MORE_THAN_IT_NEEDS = Duration.ofMinutes(5);

    private static final Config CONFIG = ConfigReader.readText(
                    "t.yaml", """
                    frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                    backends: [{name: back, balance: least-connections, endpoints: [{address: "127.0.0.1:9"}]}]
                    """.getBytes(StandardCharsets.UTF_8), name -> null)
            .config()
            .orElseThrow();

    @ParameterizedTest
    @EnumSource(value = TransportChoice.Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void connectionsOfAllKindsComeToTheirEndsAndItEndsByItselfWithAllThreads(TransportChoice.Wish wish)
            throws Exception {
        WarmUp warmUp = new WarmUp(Optional.of(MORE_THAN_IT_NEEDS));

        warmUp.run(
                CONFIG, new WarmUp.Like(TransportChoice.choose(wish).transport(), /* workers= */ 2, System::nanoTime));

        assertEquals(Optional.empty(), warmUp.failure());
        assertTrue(warmUp.ended() >= 100, "ended: " + warmUp.ended());
        assertTrue(warmUp.retired() > 0, "no connection came to its limit");
        assertEquals(0, warmUp.failed());
        assertFalse(warmUp.isRunning());
        assertNoThreadIsLeft();
    }

    /** Time stands still: neither is its budget ever used up, nor does it ever get no faster. */
    @Test
    void stoppedItEndsAtOnce() throws Exception {
        WarmUp warmUp = new WarmUp(Optional.of(MORE_THAN_IT_NEEDS));
        Transport transport = TransportChoice.choose(TransportChoice.Wish.AUTO).transport();
        Thread starting = new Thread(() -> warmUp.run(CONFIG, new WarmUp.Like(transport, 2, () -> 0)), "starting");
        starting.start();
        Await.until("it is under way", Duration.ofSeconds(30), warmUp::isRunning);
        assertTrue(starting.isAlive());

        warmUp.stop();

        starting.join(30_000);
        assertFalse(starting.isAlive());
        assertEquals(Optional.empty(), warmUp.failure());
        assertNoThreadIsLeft();
    }

    @Test
    void stoppedBeforeItDoesNotBegin() {
        WarmUp warmUp = new WarmUp(Optional.of(MORE_THAN_IT_NEEDS));
        warmUp.stop();

        warmUp.run(CONFIG, new WarmUp.Like(broken(), 2, System::nanoTime));

        assertEquals(Optional.empty(), warmUp.failure());
    }

    @Test
    void switchedOffItDoesNotBegin() {
        WarmUp warmUp = new WarmUp(Optional.empty());

        warmUp.run(CONFIG, new WarmUp.Like(broken(), 2, System::nanoTime));

        assertEquals(Optional.empty(), warmUp.failure());
    }

    @Test
    void whatItCannotHaveEndsNothingButItself() {
        WarmUp warmUp = new WarmUp(Optional.of(MORE_THAN_IT_NEEDS));

        warmUp.run(CONFIG, new WarmUp.Like(broken(), 2, System::nanoTime));

        assertEquals(
                Optional.of("cannot start: no ring for you"), warmUp.failure().map(Exception::getMessage));
        assertNoThreadIsLeft();
    }

    /** TCP knows no messages: three bytes of the preface came alone once, and the warm-up was over. */
    @Test
    void anEndpointAnswersHttp2WhoseBytesComeOneByOne() throws Exception {
        byte[] request = WarmUpTalk.HTTP2.request(0);
        try (WarmUpLoop loop = new WarmUpLoop(System::nanoTime);
                ServerSocketChannel listener =
                        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                SocketChannel client = SocketChannel.open(listener.getLocalAddress());
                SocketChannel accepted = listener.accept()) {
            WarmUpEndpoint endpoint = new WarmUpEndpoint(loop);
            endpoint.accepted(accepted);
            for (byte each : request) {
                endpoint.received(ByteBuffer.wrap(new byte[] {each}));
            }
            endpoint.close();

            String answered = new String(client.socket().getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            String response = new String(WarmUpTalk.http2Response(1), StandardCharsets.ISO_8859_1);
            assertTrue(answered.endsWith(response), answered);
        }
    }

    /** A socket takes part of a buffer, and then the rest of it: the one mark is where the bytes end, whatever was before. */
    @Test
    void bulkIsZerosUpToItsOneLastByte() throws Exception {
        try (WarmUpLoop loop = new WarmUpLoop(() -> 0)) {
            for (int left : new int[] {100, 40_000, 16_384, 16_383, 1, 20_000, 7}) {
                ByteBuffer bytes = loop.bulk(left);
                int marks = 0;
                for (int i = 0; i < bytes.remaining(); i++) {
                    marks += bytes.get(i) == WarmUpTalk.LAST ? 1 : 0;
                }
                boolean isEnd = bytes.remaining() == left;
                assertEquals(isEnd ? 1 : 0, marks, "left: " + left);
                assertEquals(isEnd ? WarmUpTalk.LAST : 0, bytes.get(bytes.limit() - 1), "left: " + left);
                assertEquals(Math.min(left, 16_384), bytes.remaining());
            }
        }
    }

    /** To broadcast by TCP fails in the very call; to a port where nobody listens, a moment later. */
    @ParameterizedTest
    @ValueSource(strings = {"255.255.255.255", "127.0.0.1"})
    void whereConnectionsFailItGivesUp(String host) throws Exception {
        InetSocketAddress nobody;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = new InetSocketAddress(host, closed.getLocalPort());
        }
        try (WarmUpLoop loop = new WarmUpLoop(() -> 0)) {
            IOException failed = assertThrows(IOException.class, () -> loop.run(nobody, nobody, 1));

            assertTrue(failed.getMessage().startsWith("connections over loopback fail: "), failed.getMessage());
            assertEquals(0, loop.ended());
        }
    }

    /** One that has no event loops to give. */
    private static Transport broken() {
        return (Transport) Proxy.newProxyInstance(
                WarmUpTest.class.getClassLoader(), new Class<?>[] {Transport.class}, (self, method, arguments) -> {
                    throw new IllegalStateException("no ring for you", new RuntimeException("no ring for you"));
                });
    }

    private static void assertNoThreadIsLeft() {
        Await.until("its threads are gone", () -> threads().isEmpty());
    }

    /** Netty's one thread for what belongs to no loop ends by itself, a second later. */
    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getThreadGroup() != null
                        && thread.getThreadGroup().getName().equals("tidegate-warm-up"))
                .map(Thread::getName)
                .toList();
    }
}
