package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.EachTransport;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.ScriptedConnection;
import dev.tidegate.testkit.Scripts;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;

/** Peers that do with HTTP/2 what no good peer does, before a real proxy: each connection has its end, and on time. */
@Tag("clock")
class HostileHttp2IT {
    private static final Duration EVERY = Duration.ofMillis(20);
    /** What a hard limit may be off by, and a tick of the wheel. */
    private static final long EXACT_MILLIS = 117;

    private static final int UNHEEDED = 100;

    private static ProxyFixture proxy(Wish transport, ScriptedBackend endpoint, String lifetime) throws IOException {
        return ProxyFixture.on(transport)
                .endpoint(endpoint)
                .frontend("lifetime: {" + lifetime + "}")
                .start();
    }

    // ---- endpoints

    private interface Answer {
        void to(ScriptedConnection connection, int type, int flags, int id) throws IOException;
    }

    /** An endpoint that speaks HTTP/2, and does with each frame what it is told. */
    private static Script http2(Answer answer) {
        return connection -> {
            connection.send(Http2Bytes.settings(1));
            DataInputStream in = new DataInputStream(new BufferedInputStream(new Bytes(connection), 64 * 1024));
            in.readFully(new byte[Http2Bytes.PREFACE.length]);
            while (true) {
                int head = in.readInt();
                int type = head & 0xff;
                int flags = in.readUnsignedByte();
                int id = in.readInt();
                byte[] payload = new byte[head >>> Byte.SIZE];
                in.readFully(payload);
                if (type == Http2Bytes.PING && flags == Http2Bytes.NONE) {
                    connection.send(Http2Bytes.frame(Http2Bytes.PING, Http2Bytes.ACK, 0, payload));
                }
                answer.to(connection, type, flags, id);
            }
        };
    }

    private static final class Bytes extends InputStream {
        private final ScriptedConnection connection;

        Bytes(ScriptedConnection connection) {
            this.connection = connection;
        }

        @Override
        public int read() {
            throw new UnsupportedOperationException("it is read through a buffer");
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            byte[] chunk = new byte[length];
            int count = connection.read(chunk);
            System.arraycopy(chunk, 0, target, offset, Math.max(0, count));
            return count;
        }
    }

    /** Answers all but the first stream, so that one stays open for ever. */
    private static Script allButTheFirst() {
        return http2((connection, type, flags, id) -> {
            if (type == Http2Bytes.HEADERS && id != 1) {
                connection.send(Http2Bytes.response(id, Http2Bytes.END_STREAM));
            }
        });
    }

    // ---- clients that do not leave

    /** envoyproxy/envoy#19045: such a client held its connection for ever. */
    @EachTransport
    @Tag("slow")
    void aClientThatIgnoresGoawayIsEndedAtTheHardLimit(Wish transport) throws Exception {
        try (var endpoint = ScriptedBackend.start(allButTheFirst());
                var proxy = proxy(transport, endpoint, "max-age: 200ms, jitter: 0%, grace: 800ms");
                var client = RawHttp2Client.connect(proxy.address(), false)) {
            int opened = client.openUntilEnded(EVERY, 1_000);

            assertEquals(RawHttp2Client.End.FIN, client.awaitEnd());
            AccessRecord record = proxy.awaitOnlyRecord();
            List<Integer> goaways = client.goaways();
            System.out.println(
                    transport + " ignores GOAWAY: opened=" + opened + " goaways=" + goaways + " " + words(record));
            assertEquals(2, goaways.size(), goaways::toString);
            assertEquals(Http2Bytes.MAX_ID, goaways.get(0));
            assertEquals(2 * record.requests - 1, (long) goaways.get(1), "the highest that was passed on");
            assertCutAtTheHardLimit(record, 1_000, 1_000); // it has a second to read that, and then it is reset
        }
    }

    /** The same at once, when it goes on and on after it must have seen the GOAWAY. */
    @EachTransport
    @Tag("slow")
    void aClientThatOpensAHundredStreamsAfterGoawayIsEndedAtOnce(Wish transport) throws Exception {
        try (var endpoint = ScriptedBackend.start(allButTheFirst());
                var proxy = proxy(transport, endpoint, "max-age: 200ms, jitter: 0%, grace: 1m");
                var client = RawHttp2Client.connect(proxy.address(), true)) {
            int opened = client.openUntilEnded(EVERY, 1_000);

            assertEquals(RawHttp2Client.End.FIN, client.awaitEnd());
            client.leave();
            AccessRecord record = proxy.awaitOnlyRecord();
            List<Integer> goaways = client.goaways();
            System.out.println(
                    transport + " opens more: opened=" + opened + " goaways=" + goaways + " " + words(record));
            assertEquals(2, goaways.size(), goaways::toString);
            assertEquals(2 * record.requests - 1, (long) goaways.get(1));
            assertEquals(RetireHow.CUT, record.how); // the first stream was open
            // Some 10 before the GOAWAY, and no more than what was on its way when the hundredth came.
            assertTrue(record.requests > UNHEEDED + 5 && record.requests < UNHEEDED + 100, () -> words(record));
            assertTrue(record.durationNanos < Duration.ofSeconds(15).toNanos(), () -> words(record));
        }
    }

    /** With nothing open there is no reason to wait for it to heed the GOAWAY. */
    @EachTransport
    void aClientThatOnlyAnswersPingsIsEndedBetweenTwoStreams(Wish transport) throws Exception {
        Script all = http2((connection, type, flags, id) -> {
            if (type == Http2Bytes.HEADERS) {
                connection.send(Http2Bytes.response(id, Http2Bytes.END_STREAM));
            }
        });
        try (var endpoint = ScriptedBackend.start(all);
                var proxy = proxy(transport, endpoint, "max-requests: 5, grace: 1m, linger: 100ms");
                var client = RawHttp2Client.connect(proxy.address(), true)) {
            client.openUntilEnded(EVERY, 1_000);

            assertEquals(RawHttp2Client.End.FIN, client.awaitEnd());
            AccessRecord record = proxy.awaitOnlyRecord();
            assertEquals(RetireHow.GOAWAY, record.how);
            assertEquals(CloseReason.MAX_REQUESTS, record.reason);
            assertFalse(record.cutMidExchange);
            assertEquals(2 * record.requests - 1, (long) client.goaways().get(1));
        }
    }

    // ---- frames without an end

    @EachTransport
    @Tag("slow")
    void aFrameOfAClientThatNeverEndsDoesNotStopTheHardLimit(Wish transport) throws Exception {
        try (var endpoint = ScriptedBackend.start(http2((connection, type, flags, id) -> {}));
                var proxy = proxy(transport, endpoint, "max-age: 200ms, jitter: 0%, grace: 400ms");
                var client = RawHttp2Client.connect(proxy.address(), true)) {
            client.awaitFrame(Http2Bytes.SETTINGS, 0);
            client.send(Http2Bytes.head(0xff_ffff, Http2Bytes.HEADERS, Http2Bytes.NONE, client.nextId()));
            trickle(() -> client.send(new byte[] {0}));

            // Towards the client there is an edge, so that it is told before it is reset.
            assertEquals(RawHttp2Client.End.FIN, client.awaitEnd());
            client.leave();
            AccessRecord record = proxy.awaitOnlyRecord();
            System.out.println(transport + " client's frame without an end: " + words(record));
            assertEquals(List.of(Http2Bytes.MAX_ID, 1), client.goaways());
            assertCutAtTheHardLimit(record, 600, 0);
        }
    }

    @EachTransport
    @Tag("slow")
    void aFrameOfAnEndpointThatNeverEndsDoesNotStopTheHardLimit(Wish transport) throws Exception {
        Script endless = http2((connection, type, flags, id) -> {
            if (type == Http2Bytes.HEADERS) {
                connection.send(Http2Bytes.response(id, Http2Bytes.NONE));
                connection.send(Http2Bytes.head(0xff_ffff, Http2Bytes.DATA, Http2Bytes.NONE, id));
                trickle(() -> connection.send("d"));
            }
        });
        try (var endpoint = ScriptedBackend.start(endless);
                var proxy = proxy(transport, endpoint, "max-age: 200ms, jitter: 0%, grace: 400ms");
                var client = RawHttp2Client.connect(proxy.address(), true)) {
            client.open();

            assertEquals(RawHttp2Client.End.RST, client.awaitEnd());
            AccessRecord record = proxy.awaitOnlyRecord();
            System.out.println(transport + " endpoint's frame without an end: " + words(record));
            assertEquals(List.of(), client.goaways(), "a GOAWAY within a frame");
            assertCutAtTheHardLimit(record, 600, 0);
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void trickle(Step step) {
        try {
            while (true) {
                step.run();
                LockSupport.parkNanos(EVERY.toNanos());
            }
        } catch (IOException ended) {
            // As the test wants it.
        }
    }

    private static void assertCutAtTheHardLimit(AccessRecord record, long hardMillis, long partingMillis) {
        assertEquals(CloseReason.MAX_AGE, record.reason);
        assertEquals(RetireHow.CUT, record.how);
        assertTrue(record.cutMidExchange);
        long took = millis(record);
        assertTrue(
                took >= hardMillis - EXACT_MILLIS && took <= hardMillis + partingMillis + EXACT_MILLIS,
                () -> "ended after " + took + " ms, not " + hardMillis + " to " + (hardMillis + partingMillis));
    }

    // ---- floods

    /** varnishcache/varnish-cache#3996, CVE-2023-44487: requests that are taken back are requests. */
    @EachTransport
    @Tag("slow")
    void twentyThousandStreamsOpenedAndResetAreCountedAndLeaveNothing(Wish transport) throws Exception {
        openAndReset(transport, 20_000);
    }

    @EachTransport
    @Tag("nightly")
    void aHundredThousandStreamsOpenedAndResetAreCountedAndLeaveNothing(Wish transport) throws Exception {
        openAndReset(transport, 100_000);
    }

    private static void openAndReset(Wish transport, int all) throws Exception {
        int cap = 1_000;
        try (var endpoint = ScriptedBackend.start(http2((connection, type, flags, id) -> {}));
                var proxy = proxy(transport, endpoint, "max-requests: " + cap + ", grace: 1m");
                var client = RawHttp2Client.connect(proxy.address(), false)) {
            pairs(client, cap - 1);
            client.send(Http2Bytes.ping(Http2Bytes.NONE, 7));
            client.awaitFrame(Http2Bytes.PING, 0); // the endpoint's answer: it has all of them
            assertEquals(List.of(), client.goaways());

            pairs(client, 1);
            client.awaitFrame(Http2Bytes.GOAWAY, 0);
            RawHttp2Client.Frame ping = client.awaitFrame(Http2Bytes.PING, 1);
            long before = usedBytes();
            long start = System.nanoTime();
            pairs(client, all - cap);
            client.send(Http2Bytes.ping(Http2Bytes.NONE, 8));
            client.awaitFrame(Http2Bytes.PING, 2);
            long tookMillis = Duration.ofNanos(System.nanoTime() - start).toMillis();
            long grown = usedBytes() - before;
            assertEquals(List.of(Http2Bytes.MAX_ID), client.goaways());

            client.send(ping.ack());
            assertEquals(RawHttp2Client.End.FIN, client.awaitEnd());
            assertEquals(List.of(Http2Bytes.MAX_ID, 2 * all - 1), client.goaways());
            client.leave();
            AccessRecord record = proxy.awaitOnlyRecord();
            System.out.println(transport + " opened and reset: " + words(record) + " in " + tookMillis
                    + " ms, memory grown by " + grown / 1024 + " KiB");
            assertEquals(all, record.requests);
            assertEquals(all, proxy.sum(row -> row.requests(Protocol.HTTP2)));
            assertEquals(CloseReason.MAX_REQUESTS, record.reason);
            assertEquals(RetireHow.GOAWAY, record.how);
            assertTrue(grown < 4 << 20, () -> "memory has grown by " + grown + " bytes");
        }
    }

    private static void pairs(RawHttp2Client client, int count) throws IOException {
        List<byte[]> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int id = client.nextId();
            batch.add(Http2Bytes.request(id, Http2Bytes.END_STREAM));
            batch.add(Http2Bytes.reset(id));
            if (batch.size() == 1_000 || i == count - 1) {
                client.send(batch.toArray(byte[][]::new));
                batch.clear();
            }
        }
    }

    /** Heap that lives, and what Netty holds outside of it. */
    private static long usedBytes() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory()
                - runtime.freeMemory()
                + PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
    }

    // ---- endpoints that say GOAWAY themselves

    /** RFC 9113 section 6.8: the last stream id must not rise. */
    @EachTransport
    void theEndpointsOwnGoawayIsNeverRaised(Wish transport) throws Exception {
        Script leaving = http2((connection, type, flags, id) -> {
            if (type == Http2Bytes.HEADERS && id == 5) {
                connection.send(Http2Bytes.goaway(3)); // 5 is refused, 1 and 3 are still to be answered
            } else if (type == Http2Bytes.PING && flags == Http2Bytes.NONE) {
                connection.send(Http2Bytes.response(1, Http2Bytes.END_STREAM));
                connection.send(Http2Bytes.response(3, Http2Bytes.END_STREAM));
            }
        });
        try (var endpoint = ScriptedBackend.start(leaving);
                var proxy = proxy(transport, endpoint, "max-requests: 4, grace: 1m");
                var client = RawHttp2Client.connect(proxy.address(), true)) {
            client.open();
            client.open();
            client.open();
            client.awaitFrame(Http2Bytes.GOAWAY, 0);
            client.open(); // the fourth: now it is to be retired, and 1 and 3 are open
            client.send(Http2Bytes.ping(Http2Bytes.NONE, 9)); // now they are answered

            assertEquals(RawHttp2Client.End.FIN, client.awaitEnd());
            client.leave();
            AccessRecord record = proxy.awaitOnlyRecord();
            assertEquals(List.of(3), client.goaways());
            assertEquals(2, client.frames(Http2Bytes.HEADERS).size(), "answers");
            assertEquals(CloseReason.MAX_REQUESTS, record.reason);
            assertEquals(RetireHow.GOAWAY, record.how);
            assertEquals(4, record.requests);
        }
    }

    // ---- what only begins like HTTP/2

    /** oven-sh/bun#40137, traefik/traefik#10592: whoever waits for more of the preface waits for ever. */
    @EachTransport
    @Tag("slow")
    void aPrefaceThatStopsIsPassedOnAndEndsInSilence(Wish transport) throws Exception {
        byte[] part = "PRI * HT".getBytes(StandardCharsets.US_ASCII);
        try (var endpoint = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = proxy(transport, endpoint, "max-age: 200ms, quiet: 100ms, grace: 1s");
                var client = proxy.connect()) {
            client.send(part);
            Await.equal(
                    "bytes at the endpoint",
                    (long) part.length,
                    () -> endpoint.connection(0).bytesReceived());

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.channel().close();
            AccessRecord record = proxy.awaitOnlyRecord();
            System.out.println(transport + " begins like HTTP/2: " + words(record));
            assertEquals(CloseReason.MAX_AGE, record.reason);
            assertEquals(RetireHow.QUIET, record.how);
            assertFalse(record.cutMidExchange);
        }
    }

    @EachTransport
    @Tag("slow")
    void anEndpointThatGreetsFirstIsHeardAndEndsInSilence(Wish transport) throws Exception {
        String greeting = "220 ready\r\n";
        try (var endpoint = ScriptedBackend.start(Scripts.greet(greeting.getBytes(StandardCharsets.US_ASCII))
                        .then(Scripts.echo()));
                var proxy = proxy(transport, endpoint, "max-age: 600ms, quiet: 200ms, grace: 2s");
                ScriptedClient client = proxy.connect()) {
            assertEquals(greeting, client.readText(greeting.length()));
            client.send("PRI * HTTP/2.0\r\n"); // too late to mean anything
            assertEquals("PRI * HTTP/2.0\r\n", client.readText(16));

            assertEquals(End.Kind.FIN, client.readToEnd().kind());
            client.channel().close();
            AccessRecord record = proxy.awaitOnlyRecord();
            System.out.println(transport + " begins like HTTP/2: " + words(record));
            assertEquals(CloseReason.MAX_AGE, record.reason);
            assertEquals(RetireHow.QUIET, record.how);
            assertEquals(Protocol.TCP, record.protocol);
            assertEquals(1, record.requests);
        }
    }

    private static long millis(AccessRecord record) {
        return Duration.ofNanos(record.durationNanos).toMillis();
    }

    private static String words(AccessRecord record) {
        return "requests=" + record.requests + " reason=" + record.reason + " how=" + record.how + " after "
                + millis(record) + " ms";
    }
}
