package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.GrpcHealthServer;
import dev.tidegate.testkit.GrpcHealthServer.Health;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Scripts;
import io.netty.buffer.Unpooled;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a real gRPC server, and against ones that do what none should. */
class GrpcProbeTest {
    private static final GrpcProbe WHOLE = new GrpcProbe("", Optional.empty());

    private ProbeBench bench;

    @BeforeEach
    void open() {
        bench = ProbeBench.nio();
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    @Tag("slow")
    void realServerIsUnderstood() throws Exception {
        try (GrpcHealthServer server = GrpcHealthServer.start()
                .say("shop.Orders", Health.SERVING)
                .say("shop.Draining", Health.NOT_SERVING)
                .say("shop.Starting", Health.UNKNOWN)
                .say("shop.Broken", Health.BROKEN)) {
            assertEquals(Finding.pass("SERVING"), bench.run(WHOLE, server.address()));
            assertEquals(Finding.pass("SERVING"), bench.run(of("shop.Orders"), server.address()));
            assertEquals(Finding.notReady("NOT_SERVING"), bench.run(of("shop.Draining"), server.address()));
            assertEquals(Finding.fail("UNKNOWN"), bench.run(of("shop.Starting"), server.address()));
            assertEquals(
                    Finding.fail("gRPC NOT_FOUND (5): service \"shop.Absent\" is unknown to it"),
                    bench.run(of("shop.Absent"), server.address()));
            assertEquals(
                    Finding.fail("gRPC UNAVAILABLE (14): no database"), bench.run(of("shop.Broken"), server.address()));
            bench.run(new GrpcProbe("", Optional.of("shop.internal")), server.address());
            assertEquals("shop.internal", server.lastAuthority());
            Await.equal("open connections", 0, bench::open);
        }
        try (GrpcHealthServer bare = GrpcHealthServer.startWithoutHealth()) {
            assertEquals(
                    Finding.fail("gRPC UNIMPLEMENTED (12): the server has no health service"),
                    bench.run(WHOLE, bare.address()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'00000000020801', PASS, 'SERVING'",
        "'00000000020802', NOT_READY, 'NOT_SERVING'",
        "'0000000000', FAIL, 'UNKNOWN'",
        "'00000000020803', FAIL, 'SERVICE_UNKNOWN'",
        "'00000000020809', FAIL, 'status 9'",
        "'000000000712036162630801', PASS, 'SERVING'",
        "'01000000020801', FAIL, 'the answer is compressed, which it was not asked to be'",
        "'00000000030801', FAIL, 'the answer is not one whole message'",
        "'0000000002080100', FAIL, 'the answer is not one whole message'",
        "'00000000010f', FAIL, 'the answer is no HealthCheckResponse'",
        "'00000000021205', FAIL, 'the answer is no HealthCheckResponse'",
        "'000000', FAIL, 'the answer has no message'"
    })
    void messageIsReadWithBounds(String hex, Word word, String detail) {
        assertEquals(
                new Finding(word, detail),
                answer(
                        H2.headers(false, ":status", "200", "content-type", "application/grpc"),
                        H2.data(false, HexFormat.of().parseHex(hex)),
                        H2.headers(true, "grpc-status", "0")));
    }

    @Test
    void fieldsThatAreUnknownAreSkipped() {
        HexFormat hex = HexFormat.of();
        String others = "11" + "0102030405060708" + "1d" + "01020304" + "2202abcd" + "28ffff03";
        assertEquals(Optional.of(2L), lastNumber(hex.parseHex(others + "0802")));
        assertEquals(Optional.of(1L), lastNumber(hex.parseHex("0802" + others + "0801")));
        assertEquals(Optional.empty(), lastNumber(hex.parseHex("08ffffffffffffffffffffff01")));
        assertEquals(Optional.empty(), lastNumber(hex.parseHex("22ffffffff7f")));
        assertEquals(Optional.empty(), lastNumber(hex.parseHex("1101")));
    }

    private static Optional<Long> lastNumber(byte[] message) {
        return GrpcProbe.Protobuf.lastNumber(1, Unpooled.wrappedBuffer(message));
    }

    @Test
    void answerThatIsNotGrpcIsTold() {
        assertEquals(
                Finding.fail("answered HTTP 404, and not in gRPC"),
                answer(H2.headers(true, ":status", "404", "content-type", "text/plain")));
        assertEquals(
                Finding.fail("answered HTTP 503"),
                answer(H2.headers(true, ":status", "503", "content-type", "application/grpc")));
        assertEquals(
                Finding.fail("the answer has no grpc-status"),
                answer(
                        H2.headers(false, ":status", "200", "content-type", "application/grpc"),
                        H2.data(true, HexFormat.of().parseHex("00000000020801"))));
        assertEquals(
                Finding.fail("the answer has no grpc-status"),
                answer(H2.headers(true, ":status", "200", "content-type", "application/grpc")));
    }

    @Test
    void endlessMessageIsCutOff() {
        byte[] piece = new byte[16_000];
        assertEquals(
                Finding.fail("the answer is longer than 4096 bytes"),
                answer(H2.headers(false, ":status", "200", "content-type", "application/grpc"), H2.data(false, piece)));
    }

    @Test
    void statusAloneIsEnough() {
        assertEquals(
                Finding.fail("gRPC PERMISSION_DENIED (7): who are you?"),
                answer(H2.headers(
                        true,
                        ":status",
                        "200",
                        "content-type",
                        "application/grpc",
                        "grpc-status",
                        "7",
                        "grpc-message",
                        "who are you?")));
    }

    @Test
    void closeBeforeTheAnswerIsTold() {
        try (ScriptedBackend backend = ScriptedBackend.start(H2.answering())) {
            Finding finding = bench.run(WHOLE, backend.address());
            // What the codec still writes may meet a socket that is closed already: then it is a reset that is seen.
            assertTrue(finding.detail().matches("connection (closed|reset), and no answer"), finding::detail);
        }
        assertTrue(new GrpcProbe("a", Optional.empty()).equals(of("a")), "equal when they ask the same");
    }

    private static GrpcProbe of(String service) {
        return new GrpcProbe(service, Optional.empty());
    }

    private Finding answer(byte[]... frames) {
        try (ScriptedBackend backend =
                ScriptedBackend.start(H2.answering(frames).then(Scripts.readToEnd()))) {
            return bench.run(WHOLE, backend.address());
        }
    }
}
