package dev.tidegate.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScriptedPeersTest {
    private static final ScriptedClient.Options IMPATIENT =
            ScriptedClient.Options.DEFAULT.withBound(Duration.ofMillis(200));

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (int i = open.size(); i-- > 0; ) {
            open.get(i).close();
        }
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        open.add(closeable);
        return closeable;
    }

    private ScriptedBackend backend(Script script) {
        return closing(ScriptedBackend.start(script));
    }

    private ScriptedClient client(ScriptedBackend backend) throws Exception {
        return closing(ScriptedClient.connect(backend.address()));
    }

    @Test
    void echoReturnsEveryByteAndFinAfterThem() throws Exception {
        ScriptedBackend backend = backend(Scripts.echo());
        ScriptedClient client = client(backend);
        client.sendSeeded(7, 100_000);
        client.shutdownOutput();
        assertEquals(new End(End.Kind.FIN, 100_000, SeededStream.sha256(7, 100_000)), client.readToEnd());
        backend.awaitAllDone();
        ScriptedConnection connection = backend.connection(0);
        assertEquals(100_000, connection.bytesReceived());
        assertEquals(SeededStream.sha256(7, 100_000), connection.sha256());
        assertEquals(Ending.FIN, connection.ending());
        assertEquals(client.localAddress(), connection.remoteAddress());
        assertArrayEquals(SeededStream.bytes(7, 4096), connection.firstBytes());
        assertTrue(connection.isDone());
    }

    @Test
    void greetSpeaksFirstAndGoesOn() throws Exception {
        ScriptedClient client =
                client(backend(Scripts.greet("220 hi\r\n".getBytes(US_ASCII)).then(Scripts.echo())));
        assertEquals("220 hi\r\n", client.readText(8));
        client.send("x");
        assertEquals("x", client.readText(1));
    }

    @Test
    void refusingRefuses() {
        ScriptedBackend backend = closing(ScriptedBackend.refusing());
        assertThrows(ConnectException.class, () -> ScriptedClient.connect(backend.address()));
    }

    @Test
    void blackHoleLetsConnectsHang() {
        ScriptedBackend backend = closing(ScriptedBackend.blackHole());
        AssertionError late =
                assertThrows(AssertionError.class, () -> ScriptedClient.connect(backend.address(), IMPATIENT));
        assertTrue(late.getMessage().contains("did not complete within 200 ms"), late.getMessage());
    }

    @Test
    void silentNeitherAnswersNorReadsAndStillTellsFinAndRst() throws Exception {
        ScriptedBackend backend = backend(Scripts.silent());
        ScriptedClient polite = client(backend);
        ScriptedClient rude = client(backend);
        polite.send("anyone?");
        assertEquals(End.Kind.TIMEOUT, polite.readToEnd(Duration.ofMillis(50)).kind());
        assertEquals(Ending.OPEN, backend.connection(0).ending());
        assertEquals(0, backend.connection(0).bytesReceived());
        polite.shutdownOutput();
        rude.reset();
        Await.equal("silent one's view", Ending.FIN, backend.connection(0)::ending);
        Await.equal("silent one's view", Ending.RST, backend.connection(1)::ending);
        assertEquals(2, backend.maxConcurrent());
    }

    @Test
    void rstAtOnceIsSeenAsRst() throws Exception {
        ScriptedBackend backend = backend(Scripts.rst());
        try {
            assertEquals(End.Kind.RST, client(backend).readToEnd().kind());
        } catch (PeerGoneException beforeConnectReturned) {
            assertEquals(Ending.RST, beforeConnectReturned.ending());
        }
    }

    @Test
    void rstAfterReadingTakesThatManyBytesFirst() throws Exception {
        ScriptedBackend backend = backend(Scripts.rstAfterReading(10));
        ScriptedClient client = client(backend);
        client.send("0123456789");
        assertEquals(End.Kind.RST, client.readToEnd().kind());
        assertEquals("0123456789", backend.connection(0).firstText());
    }

    @Test
    void rstAfterWritingDeliversThatManyBytesFirst() throws Exception {
        End end = client(backend(Scripts.rstAfterWriting(3, 50_000))).readToEnd();
        assertEquals(new End(End.Kind.RST, 50_000, SeededStream.sha256(3, 50_000)), end);
    }

    @Test
    void finThenReadHearsAllThatTheClientStillHasToSay() throws Exception {
        ScriptedBackend backend = backend(Scripts.finThenRead());
        ScriptedClient client = client(backend);
        assertEquals(End.Kind.FIN, client.readToEnd().kind());
        client.sendSeeded(1, 70_000);
        client.close();
        backend.awaitAllDone();
        assertEquals(SeededStream.sha256(1, 70_000), backend.connection(0).sha256());
    }

    @Test
    void readToEndThenReplyWaitsForFin() throws Exception {
        ScriptedClient client = client(backend(Scripts.readToEndThenReply("bye".getBytes(US_ASCII))));
        client.send("abc");
        assertEquals(End.Kind.TIMEOUT, client.readToEnd(Duration.ofMillis(50)).kind());
        client.shutdownOutput();
        assertEquals("bye", client.readText(3));
        assertEquals(End.Kind.FIN, client.readToEnd().kind());
    }

    @Test
    void sendThenFinDeliversTheSeededStream() throws Exception {
        End end = client(backend(Scripts.sendThenFin(8, 3_000_000))).readToEnd();
        assertEquals(new End(End.Kind.FIN, 3_000_000, SeededStream.sha256(8, 3_000_000)), end);
    }

    @Test
    void streamForeverGoesOnUntilTheClientLeaves() throws Exception {
        ScriptedBackend backend = backend(Scripts.streamForever(2));
        ScriptedClient client = client(backend);
        client.skip(5_000_000);
        client.reset();
        backend.awaitAllDone();
        assertEquals(Ending.RST, backend.connection(0).ending());
        assertTrue(backend.connection(0).bytesSent() >= 5_000_000);
    }

    @Test
    void slicedBytesArriveInOrder() throws Exception {
        ScriptedBackend backend = backend(Scripts.sliced("HELLO".getBytes(US_ASCII), Duration.ZERO));
        assertEquals("HELLO", client(backend).readText(5));
        ScriptedBackend sink = backend(Scripts.readToEnd());
        ScriptedClient client = client(sink);
        client.sendSliced("hello".getBytes(US_ASCII), Duration.ofMillis(1));
        client.close();
        sink.awaitAllDone();
        assertEquals("hello", sink.connection(0).firstText());
    }

    @Test
    void neverReadingBlocksTheSenderAfterABoundedAmount() throws Exception {
        ScriptedBackend backend = closing(ScriptedBackend.neverReading());
        ScriptedClient client = closing(ScriptedClient.connect(backend.address(), IMPATIENT.withSendBuffer(16 * 1024)));
        long taken = client.sendUntilBlocked(1, Long.MAX_VALUE, Duration.ofMillis(100));
        assertTrue(taken > 0 && taken < 1_000_000, "taken: " + taken);
        AssertionError stuck = assertThrows(AssertionError.class, () -> client.send(new byte[1_000_000]));
        assertTrue(stuck.getMessage().contains("nothing could be sent for 200 ms"), stuck.getMessage());
    }

    @Test
    void slowReaderTakesItsTimeAndAllBytes() throws Exception {
        ScriptedBackend backend = closing(ScriptedBackend.slowReader(100_000));
        ScriptedClient client =
                closing(ScriptedClient.connect(backend.address(), ScriptedClient.Options.DEFAULT.withSendBuffer(4096)));
        long startNanos = System.nanoTime();
        client.sendSeeded(4, 30_000);
        client.close();
        backend.awaitAllDone();
        assertEquals(SeededStream.sha256(4, 30_000), backend.connection(0).sha256());
        assertTrue(System.nanoTime() - startNanos > 250_000_000L, "30,000 bytes at 100,000 a second take 300 ms");
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.2", "::1"})
    void listensOnTheLoopbackAddressAskedFor(String host) throws Exception {
        ScriptedBackend backend = closing(
                ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost(host), Scripts.greet(new byte[] {1})));
        assertEquals(1, client(backend).readExactly(1)[0]);
        assertEquals(new InetSocketAddress(host, backend.port()), backend.address());
    }

    @Test
    void clientComesFromTheSourceAskedFor() throws Exception {
        ScriptedBackend backend = backend(Scripts.silent());
        closing(ScriptedClient.connect(
                backend.address(),
                ScriptedClient.Options.DEFAULT.fromSource("127.0.0.9").withReceiveBuffer(4096)));
        assertEquals(
                "127.0.0.9", backend.connection(0).remoteAddress().getAddress().getHostAddress());
    }

    @Test
    void stoppedBackendRefusesAndKeepsItsConnectionsAndCanComeBack() throws Exception {
        ScriptedBackend backend = backend(Scripts.echo());
        ScriptedClient client = client(backend);
        backend.awaitConnections(1);
        backend.stopListening();
        assertThrows(ConnectException.class, () -> ScriptedClient.connect(backend.address()));
        client.send("x");
        assertEquals("x", client.readText(1));
        ScriptedBackend again =
                closing(ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onPort(backend.port()), Scripts.echo()));
        client(again).send("y");
        again.awaitConnections(1);
    }

    @Test
    void shortReadTellsWhatCameAndHowItEnded() throws Exception {
        ScriptedClient client = client(backend(Scripts.greet("abc".getBytes(US_ASCII))));
        PeerGoneException gone = assertThrows(PeerGoneException.class, () -> client.readExactly(5));
        assertEquals(Ending.FIN, gone.ending());
        assertTrue(gone.getMessage().contains("expected 5 bytes, FIN came after 3"), gone.getMessage());
    }

    @Test
    void readThatWaitsInVainFailsWithinItsBound() throws Exception {
        ScriptedBackend backend = backend(Scripts.silent());
        ScriptedClient client = closing(ScriptedClient.connect(backend.address(), IMPATIENT));
        AssertionError late = assertThrows(AssertionError.class, () -> client.readExactly(1));
        assertTrue(late.getMessage().contains("nothing to read for 200 ms"), late.getMessage());
        assertEquals(End.Kind.TIMEOUT, client.readToEnd().kind());
    }

    @Test
    void faultOfAScriptComesOutOfClose() throws Exception {
        ScriptedBackend backend = ScriptedBackend.start(c -> {
            throw new IllegalStateException("script bug");
        });
        client(backend).readToEnd();
        AssertionError fault = assertThrows(AssertionError.class, backend::close);
        assertEquals("script bug", fault.getCause().getMessage());
    }

    @Test
    void closeEndsEveryKindOfScript() throws Exception {
        for (Script script : List.of(
                Scripts.echo(),
                Scripts.silent(),
                Scripts.finThenRead(),
                Scripts.streamForever(1),
                Scripts.slowReader(1))) {
            ScriptedBackend backend = ScriptedBackend.start(script);
            client(backend).send("some bytes that are more than one sip");
            ScriptedConnection connection = backend.connection(0);
            backend.close();
            assertTrue(connection.isDone());
            assertFalse(connection.isOpen());
            assertEquals(0, backend.concurrent());
        }
    }
}
