package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A side that does not read stops the reading of the other, and what waited goes on when it reads again. */
class StalledEndpointTest {
    private static final int SMALL_BYTES = 16 * 1024;
    private static final long FLOOD_BYTES = 64L * 1024 * 1024;
    /** The queue and the kernel's buffers, with room to spare. */
    private static final long MOST_HELD_BYTES = FLOOD_BYTES / 4;

    private static final Duration STALL = Duration.ofMillis(300);

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void clientIsNotReadWhileItsEndpointDoesNotRead(Wish transport) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.withReceiveBuffer(SMALL_BYTES), connection -> {
                            awaitOpen(gate);
                            connection.readToEnd();
                        });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .sendBuffers(SMALL_BYTES)
                        .start();
                ScriptedClient client = connect(proxy)) {
            long sent = client.sendUntilBlocked(31, FLOOD_BYTES, STALL);
            gate.countDown();
            client.shutdownOutput();
            backend.awaitAllDone();

            assertTrue(sent < MOST_HELD_BYTES, sent + " bytes were taken that the endpoint did not read");
            assertEquals(SeededStream.sha256(31, sent), backend.connection(0).sha256());
        }
    }

    /** Once the peer has ended, io_uring's poll says nothing of room to write, and epoll's set may be without the socket. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void bytesThatWaitForAnEndpointThatHasEndedItsSideArriveWhenItReads(Wish transport) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.withReceiveBuffer(SMALL_BYTES), connection -> {
                            connection.shutdownOutput();
                            awaitOpen(gate);
                            connection.readToEnd();
                        });
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .sendBuffers(SMALL_BYTES)
                        .start();
                ScriptedClient client = connect(proxy)) {
            assertEquals(0, client.readToEnd().bytes());
            long sent = client.sendUntilBlocked(32, FLOOD_BYTES, STALL);
            gate.countDown();
            client.shutdownOutput();
            backend.awaitAllDone();

            assertTrue(sent < MOST_HELD_BYTES, sent + " bytes were taken that the endpoint did not read");
            assertEquals(SeededStream.sha256(32, sent), backend.connection(0).sha256());
            assertEquals(Ending.FIN, backend.connection(0).ending());
            assertEquals(CloseReason.ENDPOINT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    private static ScriptedClient connect(ProxyFixture proxy) throws IOException {
        return ScriptedClient.connect(proxy.address(), ScriptedClient.Options.DEFAULT.withSendBuffer(SMALL_BYTES));
    }

    private static void awaitOpen(CountDownLatch gate) throws IOException {
        try {
            gate.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while not reading", stopped);
        }
    }
}
