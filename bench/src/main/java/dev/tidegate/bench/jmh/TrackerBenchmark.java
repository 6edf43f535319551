package dev.tidegate.bench.jmh;

import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.Side;
import dev.tidegate.protocol.Detection;
import dev.tidegate.protocol.Tracker;
import dev.tidegate.protocol.Wire;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What watching costs: the trackers alone, by whole exchanges and by bytes of a body. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class TrackerBenchmark {
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int END_STREAM_AND_HEADERS = 5;
    private static final int HEADER_BLOCK_BYTES = 60;
    private static final int PIECE_BYTES = 16 * 1024;

    private final NoWire http1 = new NoWire();
    private final NoWire http2 = new NoWire();
    private final NoWire body = new NoWire();
    private final ByteBuf request = text("POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.example:8443\r\n"
            + "User-Agent: client/1.2.3\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n"
            + "-".repeat(64));
    private final ByteBuf response =
            text("HTTP/1.1 200 OK\r\nServer: gateway\r\nDate: Mon, 02 Nov 2026 10:00:00 GMT\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 64\r\n\r\n" + "-".repeat(64));
    private final ByteBuf opened = frame(HEADERS, END_STREAM_AND_HEADERS, 1, HEADER_BLOCK_BYTES);
    private final ByteBuf answered = frame(HEADERS, END_STREAM_AND_HEADERS, 1, HEADER_BLOCK_BYTES);
    private final ByteBuf piece = Unpooled.directBuffer().writeZero(PIECE_BYTES);
    private int streamId = 1;

    /** Has each tracker recognise its protocol. */
    @Setup
    public void recognise() {
        begin(http1);
        http1Exchange();
        begin(http2);
        http2.shown(Side.DOWNSTREAM, text(PREFACE));
        http2.shown(Side.DOWNSTREAM, frame(SETTINGS, 0, 0, 0));
        http2.shown(Side.UPSTREAM, frame(SETTINGS, 0, 0, 0));
        begin(body);
        body.shown(Side.DOWNSTREAM, request);
        body.shown(Side.UPSTREAM, text("HTTP/1.1 200 OK\r\nContent-Length: " + Long.MAX_VALUE / 32 + "\r\n\r\n"));
        if (!http1.tracker.recognised() || !http2.tracker.recognised() || !body.tracker.recognised()) {
            throw new IllegalStateException("what is to be measured is not recognised");
        }
    }

    private static void begin(NoWire wire) {
        Detection.begin(ProtocolChoice.AUTO, wire, RandomGenerator.getDefault());
    }

    /** A request with a head of 194 bytes and its response with one of 118, each in a read of its own. */
    @Benchmark
    public void http1Exchange() {
        http1.shown(Side.DOWNSTREAM, request);
        http1.shown(Side.UPSTREAM, response);
    }

    /** A stream that is one frame each way. */
    @Benchmark
    public void http2Stream() {
        streamId += 2;
        opened.setInt(5, streamId);
        answered.setInt(5, streamId);
        http2.shown(Side.DOWNSTREAM, opened);
        http2.shown(Side.UPSTREAM, answered);
    }

    /** A read of 16 KiB in the middle of a body. */
    @Benchmark
    public void http1Body() {
        body.shown(Side.UPSTREAM, piece);
    }

    private static ByteBuf text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return Unpooled.directBuffer(bytes.length).writeBytes(bytes);
    }

    private static ByteBuf frame(int type, int flags, int stream, int length) {
        return Unpooled.directBuffer()
                .writeMedium(length)
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeZero(length);
    }

    /** Nothing is to be done to the bytes; if something is, the benchmark measures something else. */
    private static final class NoWire implements Wire {
        private Tracker tracker;
        private long requests;

        void shown(Side from, ByteBuf data) {
            if (!tracker.onBytes(from, data)) {
                throw new IllegalStateException("not passed on whole");
            }
        }

        @Override
        public void become(Tracker next) {
            tracker = next;
        }

        @Override
        public void onRequest() {
            requests++;
        }

        @Override
        public void pass(Side from, ByteBuf data) {
            throw unexpected();
        }

        @Override
        public void insert(ByteBuf data) {
            throw unexpected();
        }

        @Override
        public void hold(ByteBuf data) {
            throw unexpected();
        }

        @Override
        public void release() {
            throw unexpected();
        }

        @Override
        public ByteBuf buffer(int capacity) {
            throw unexpected();
        }

        @Override
        public void opaque() {
            throw unexpected();
        }

        @Override
        public void switched() {
            throw unexpected();
        }

        @Override
        public void over() {
            throw unexpected();
        }

        @Override
        public void unheeded() {
            throw unexpected();
        }

        private IllegalStateException unexpected() {
            return new IllegalStateException("after " + requests + " requests: not what is to be measured");
        }
    }
}
