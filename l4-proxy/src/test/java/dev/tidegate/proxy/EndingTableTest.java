package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Side;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The whole table: FIN or RST, by the client or the endpoint, before any byte, after bytes that have passed, and with bytes
 * still queued toward a side that does not read. The other side sees the same kind of end, after the same bytes.
 */
class EndingTableTest {
    private static final int RECEIVE_BUFFER = 32 * 1024;
    private static final long SEED = 11;
    private static final int PASSED = 10_000;
    private static final long MOST_QUEUED = 32L * 1024 * 1024;
    private static final Duration STALL = Duration.ofMillis(150);

    /** What the side that ends has sent before. */
    enum Before {
        NOTHING,
        PASSED,
        QUEUED
    }

    static List<Arguments> table() {
        List<Arguments> rows = new ArrayList<>();
        for (Wish transport : List.of(Wish.IO_URING, Wish.EPOLL, Wish.NIO)) {
            for (Side side : Side.values()) {
                for (Ending how : List.of(Ending.FIN, Ending.RST)) {
                    for (Before before : Before.values()) {
                        rows.add(Arguments.of(transport, side, how, before));
                    }
                }
            }
        }
        return rows;
    }

    /** netty/netty#4170, netty/netty#6391, envoyproxy/envoy#2067. */
    @ParameterizedTest(name = "{0}: {1} ends by {2}, {3} before")
    @MethodSource("table")
    @Tag("slow")
    void theOtherSideSeesTheSameEndAfterTheSameBytes(Wish transport, Side side, Ending how, Before before)
            throws IOException {
        if (side == Side.DOWNSTREAM) {
            clientEnds(transport, how, before);
        } else {
            endpointEnds(transport, how, before);
        }
    }

    private static void clientEnds(Wish transport, Ending how, Before before) throws IOException {
        Gate reading = new Gate();
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.withReceiveBuffer(RECEIVE_BUFFER),
                        reading.step().then(ScriptedPeer::readToEnd));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            var endpoint = backend.connection(0);
            if (before != Before.QUEUED) {
                reading.open();
            }
            proxy.awaitConnected(0, 1);
            long sent = send(client, before);
            if (before == Before.PASSED) {
                Await.until("bytes have passed", () -> endpoint.bytesReceived() == PASSED);
            }

            end(client, how);
            reading.open();
            if (how == Ending.FIN) {
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
            }
            backend.awaitAllDone();

            AccessRecord record = proxy.awaitOnlyRecord();
            assertEquals(how, endpoint.ending());
            assertEquals(SeededStream.sha256(SEED, endpoint.bytesReceived()), endpoint.sha256());
            assertEquals(how == Ending.FIN ? CloseReason.CLIENT_CLOSED : CloseReason.CLIENT_RESET, record.reason);
            assertEquals(Side.DOWNSTREAM, record.closedBy);
            assertArrived(transport, how, before, sent, endpoint.bytesReceived(), record.bytesReceived);
        }
    }

    private static void endpointEnds(Wish transport, Ending how, Before before) throws IOException {
        Gate ending = new Gate();
        Gate ended = new Gate();
        AtomicLong sent = new AtomicLong();
        try (var backend = ScriptedBackend.start(connection -> {
                    sent.set(send(connection, before));
                    ending.pass();
                    end(connection, how);
                    ended.open();
                    if (how == Ending.FIN) {
                        connection.readToEnd();
                    }
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = ScriptedClient.connect(
                        proxy.address(), ScriptedClient.Options.DEFAULT.withReceiveBuffer(RECEIVE_BUFFER))) {
            long read = 0;
            if (before == Before.PASSED) {
                read = client.readExactly(PASSED).length;
            }
            proxy.awaitConnected(0, 1);
            ending.open();
            ended.pass();
            End end = client.readToEnd();
            client.channel().close();
            backend.awaitAllDone();

            AccessRecord record = proxy.awaitOnlyRecord();
            assertEquals(how == Ending.FIN ? End.Kind.FIN : End.Kind.RST, end.kind());
            assertEquals(SeededStream.sha256(SEED, client.bytesReceived()), client.sha256());
            assertEquals(how == Ending.FIN ? CloseReason.ENDPOINT_CLOSED : CloseReason.ENDPOINT_RESET, record.reason);
            assertEquals(Side.UPSTREAM, record.closedBy);
            assertArrived(transport, how, before, sent.get(), read + end.bytes(), record.bytesSent);
        }
    }

    /**
     * After a FIN everything has arrived. After a reset, all that the proxy had read; the rest is signalled by RST. nio
     * cannot ask the kernel what it still holds, so that there the reset may overtake some of that too.
     */
    private static void assertArrived(Wish transport, Ending how, Before before, long sent, long arrived, long logged) {
        if (transport == Wish.NIO && how == Ending.RST && before == Before.QUEUED) {
            assertTrue(arrived <= logged, () -> arrived + " arrived, " + logged + " logged");
        } else {
            assertEquals(arrived, logged, "bytes logged are bytes delivered");
        }
        if (how == Ending.FIN || before != Before.QUEUED) {
            assertEquals(sent, arrived);
        } else {
            assertTrue(arrived > 0 && arrived <= sent, () -> arrived + " of " + sent);
        }
    }

    private static long send(ScriptedPeer peer, Before before) throws IOException {
        return switch (before) {
            case NOTHING -> 0;
            case PASSED -> {
                peer.sendSeeded(SEED, PASSED);
                peer.awaitAcknowledged();
                yield PASSED;
            }
            case QUEUED -> peer.sendUntilBlocked(SEED, MOST_QUEUED, STALL);
        };
    }

    private static void end(ScriptedPeer peer, Ending how) throws IOException {
        if (how == Ending.RST) {
            peer.reset();
        } else {
            peer.shutdownOutput();
        }
    }
}
