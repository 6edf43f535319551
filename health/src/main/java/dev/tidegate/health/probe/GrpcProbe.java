package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The standard health check of gRPC, {@code grpc.health.v1.Health/Check}, in cleartext. SERVING passes, NOT_SERVING is
 * "not ready", all else fails. The connection is for one call and ends by GOAWAY, the first FIN left to the server.
 * Immutable.
 *
 * @param service the service's name; empty text: the server as a whole
 * @param host the {@code :authority}; empty: the target's configured address
 */
public record GrpcProbe(String service, Optional<String> host) implements Probe {
    /** An answer has two bytes. */
    static final int MESSAGE_MAX_BYTES = 4 * 1024;

    /** Refuses nothing but null. */
    public GrpcProbe {
        Objects.requireNonNull(service, "service");
        Objects.requireNonNull(host, "host");
    }

    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Http2Call call = Http2Call.of(done);
        String authority = host.orElse(context.subject().address());
        return call.begin(context, address, new Check(service, authority, call));
    }

    private static final class Check implements Http2Call.Exchange {
        private static final int PREFIX_BYTES = 5;
        private static final int OK = 0;
        private static final int NOT_FOUND = 5;
        private static final int UNIMPLEMENTED = 12;
        private static final String CONTENT_TYPE = "application/grpc";
        private static final List<String> STATUS_NAMES = List.of(
                "OK",
                "CANCELLED",
                "UNKNOWN",
                "INVALID_ARGUMENT",
                "DEADLINE_EXCEEDED",
                "NOT_FOUND",
                "ALREADY_EXISTS",
                "PERMISSION_DENIED",
                "RESOURCE_EXHAUSTED",
                "FAILED_PRECONDITION",
                "ABORTED",
                "OUT_OF_RANGE",
                "UNIMPLEMENTED",
                "INTERNAL",
                "UNAVAILABLE",
                "DATA_LOSS",
                "UNAUTHENTICATED");

        private final String service;
        private final String authority;
        private final Http2Call call;
        private final ByteArrayOutputStream answer = new ByteArrayOutputStream();
        private boolean headCame;

        Check(String service, String authority, Http2Call call) {
            this.service = service;
            this.authority = authority;
            this.call = call;
        }

        @Override
        public Http2Headers headers() {
            return new DefaultHttp2Headers()
                    .method("POST")
                    .scheme("http")
                    .authority(authority)
                    .path("/grpc.health.v1.Health/Check")
                    .set(HttpHeaderNames.TE, HttpHeaderValues.TRAILERS)
                    .set(HttpHeaderNames.CONTENT_TYPE, CONTENT_TYPE)
                    .set(HttpHeaderNames.USER_AGENT, HttpProbe.USER_AGENT);
        }

        /** {@code HealthCheckRequest}: field 1, the service; absent when empty, as a default is. */
        @Override
        public ByteBuf body() {
            byte[] message = Protobuf.stringField(1, service);
            ByteBuf framed = Unpooled.buffer(PREFIX_BYTES + message.length);
            return framed.writeByte(0).writeInt(message.length).writeBytes(message);
        }

        @Override
        public void onHeaders(Http2Headers headers, boolean end) {
            if (!headCame) {
                headCame = true;
                onHead(headers);
            }
            if (end && !call.isOver()) {
                onEnd(headers);
            }
        }

        private void onHead(Http2Headers headers) {
            CharSequence type = headers.get(HttpHeaderNames.CONTENT_TYPE);
            boolean grpc = type != null && type.toString().startsWith(CONTENT_TYPE);
            int status = Http2Call.statusOf(headers);
            if (status != 200 || !grpc) {
                call.fail("answered HTTP " + status + (grpc ? "" : ", and not in gRPC"));
            }
        }

        @Override
        public void onData(ByteBuf data, boolean end) {
            if (answer.size() + data.readableBytes() > PREFIX_BYTES + MESSAGE_MAX_BYTES) {
                call.fail("the answer is longer than " + MESSAGE_MAX_BYTES + " bytes");
                return;
            }
            answer.writeBytes(ByteBufUtil.getBytes(data));
            if (end) {
                call.fail("the answer has no grpc-status");
            }
        }

        @Override
        public void onReadComplete() {
            // The trailers decide.
        }

        private void onEnd(Http2Headers trailers) {
            int status = parse(trailers.get("grpc-status"));
            if (status == OK) {
                call.tell(judge(answer.toByteArray()));
            } else {
                call.fail(wordsOf(status, trailers.get("grpc-message")));
            }
        }

        /** The number; -1 for none. */
        private static int parse(CharSequence status) {
            boolean sane = status != null
                    && status.length() > 0
                    && status.length() < 5
                    && status.chars().allMatch(c -> c >= '0' && c <= '9');
            return sane ? Integer.parseInt(status, 0, status.length(), 10) : -1;
        }

        private String wordsOf(int status, CharSequence message) {
            if (status < 0) {
                return "the answer has no grpc-status";
            }
            String name = status < STATUS_NAMES.size() ? STATUS_NAMES.get(status) : "code";
            String why =
                    switch (status) {
                        case NOT_FOUND -> "service \"" + Printable.line(service) + "\" is unknown to it";
                        case UNIMPLEMENTED -> "the server has no health service";
                        default -> message == null ? "" : Printable.line(message.toString());
                    };
            return "gRPC " + name + " (" + status + ")" + (why.isEmpty() ? "" : ": " + why);
        }

        private Finding judge(byte[] framed) {
            if (framed.length < PREFIX_BYTES) {
                return Finding.fail("the answer has no message");
            }
            ByteBuf message = Unpooled.wrappedBuffer(framed);
            if (message.readByte() != 0) {
                return Finding.fail("the answer is compressed, which it was not asked to be");
            }
            if (message.readUnsignedInt() != message.readableBytes()) {
                return Finding.fail("the answer is not one whole message");
            }
            Optional<Long> status = Protobuf.lastNumber(1, message);
            return status.map(this::judge).orElseGet(() -> Finding.fail("the answer is no HealthCheckResponse"));
        }

        private Finding judge(long status) {
            if (status == 1) {
                return Finding.pass("SERVING");
            }
            if (status == 2) {
                return Finding.notReady("NOT_SERVING");
            }
            return Finding.fail(status == 0 ? "UNKNOWN" : status == 3 ? "SERVICE_UNKNOWN" : "status " + status);
        }
    }

    /** As much of the encoding as a health check takes. Stateless. */
    static final class Protobuf {
        private static final int VARINT = 0;
        private static final int FIXED64 = 1;
        private static final int LENGTH_DELIMITED = 2;
        private static final int FIXED32 = 5;
        private static final int VARINT_MAX_BYTES = 10;

        private Protobuf() {}

        /** A message with one text in it; empty when the text is. */
        static byte[] stringField(int field, String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            if (utf8.length == 0) {
                return utf8;
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            writeVarint(out, (field << 3) | LENGTH_DELIMITED);
            writeVarint(out, utf8.length);
            out.writeBytes(utf8);
            return out.toByteArray();
        }

        private static void writeVarint(ByteArrayOutputStream out, int value) {
            int rest = value;
            while (rest > 0x7f) {
                out.write((rest & 0x7f) | 0x80);
                rest >>>= 7;
            }
            out.write(rest);
        }

        /** The last number in that field, 0 if it has none, skipping all others; empty if the message is malformed. */
        static Optional<Long> lastNumber(int field, ByteBuf message) {
            try {
                long number = 0;
                while (message.isReadable()) {
                    long key = readVarint(message);
                    int type = (int) (key & 7);
                    if (key >>> 3 == field && type == VARINT) {
                        number = readVarint(message);
                    } else if (!skipped(type, message)) {
                        return Optional.empty();
                    }
                }
                return Optional.of(number);
            } catch (IndexOutOfBoundsException e) {
                return Optional.empty();
            }
        }

        private static boolean skipped(int type, ByteBuf message) {
            switch (type) {
                case VARINT -> readVarint(message);
                case FIXED64 -> message.skipBytes(Long.BYTES);
                case LENGTH_DELIMITED -> {
                    long length = readVarint(message);
                    if (length < 0 || length > message.readableBytes()) {
                        return false;
                    }
                    message.skipBytes((int) length);
                }
                case FIXED32 -> message.skipBytes(Integer.BYTES);
                default -> {
                    return false;
                }
            }
            return true;
        }

        private static long readVarint(ByteBuf message) {
            long value = 0;
            for (int i = 0; i < VARINT_MAX_BYTES; i++) {
                byte next = message.readByte();
                value |= (long) (next & 0x7f) << (7 * i);
                if (next >= 0) {
                    return value;
                }
            }
            throw new IndexOutOfBoundsException("a number has more than " + VARINT_MAX_BYTES + " bytes");
        }
    }
}
