package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** HTTP/2 against servers that do what none should. */
class Http2ProbeTest {
    private static final HttpProbe GET = Https.inHttp2(Https.get());

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
    void answerPassesAndTheConnectionEndsByGoAwayAndFin() {
        try (ScriptedBackend backend = ScriptedBackend.start(
                H2.answering(H2.headers(true, ":status", "204")).then(Scripts.readToEnd()))) {
            assertEquals(Finding.pass("HTTP 204"), bench.run(GET, backend.address()));
            backend.awaitAllDone();
            assertEquals(Ending.FIN, backend.connection(0).ending());
            byte[] sent = backend.connection(0).firstBytes();
            assertEquals(H2.GOAWAY, sent[sent.length - 17 + 3], "the last frame, with no text of its own, is GOAWAY");
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void interimAnswersAreSkippedAndTheBodyIsSearched() {
        HttpProbe probe = Https.inHttp2(Https.getting("is well$"));
        assertEquals(
                Finding.pass("HTTP 200, /is well$/ found"),
                answer(
                        probe,
                        H2.headers(false, ":status", "103"),
                        H2.headers(false, ":status", "200"),
                        H2.data(false, "all ".getBytes(StandardCharsets.US_ASCII)),
                        H2.data(false, "is well".getBytes(StandardCharsets.US_ASCII)),
                        H2.headers(true, "x-end", "1")));
        assertEquals(
                Finding.fail("HTTP 200, no /is well$/ in the body; it begins: \"ill\""),
                answer(
                        probe,
                        H2.headers(false, ":status", "200"),
                        H2.data(true, "ill".getBytes(StandardCharsets.US_ASCII))));
    }

    @Test
    void answerInSingleBytesIsPutTogether() {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        answer.writeBytes(H2.headers(false, ":status", "200"));
        answer.writeBytes(H2.data(true, "ok".getBytes(StandardCharsets.US_ASCII)));
        Script sliced = H2.answering()
                .then(Scripts.sliced(answer.toByteArray(), Duration.ofMillis(1)))
                .then(Scripts.readToEnd());
        try (ScriptedBackend backend = ScriptedBackend.start(sliced)) {
            assertEquals(
                    Word.PASS,
                    bench.run(Https.inHttp2(Https.getting("ok")), backend.address())
                            .word());
        }
    }

    @Test
    void resetStreamAndGoAwayAreToldByName() {
        assertEquals(
                Finding.fail("stream reset by the server (REFUSED_STREAM), and no complete answer"),
                answer(GET, H2.rstStream(7)));
        assertEquals(
                Finding.fail("connection ended by the server (GOAWAY ENHANCE_YOUR_CALM), and no complete answer"),
                answer(GET, H2.goAway(H2.STREAM, 11)));
        assertEquals(
                Finding.fail("connection ended by the server (GOAWAY NO_ERROR), and no complete answer"),
                answer(GET, H2.goAway(0, 0)));
        assertEquals(
                Finding.pass("HTTP 200"), answer(GET, H2.goAway(H2.STREAM, 0), H2.headers(true, ":status", "200")));
    }

    @Test
    void malformedAnswersAreTold() {
        failsOn(H2.answering(H2.headers(true, "x-status", "200")), GET);
        failsOn(H2.answering(H2.headers(true, ":status", "abc")), GET);
        failsOn(H2.answering(H2.frame(H2.HEADERS, 5, H2.STREAM, (byte) 0xff, (byte) 0xff)), GET);
        failsOn(c -> c.send("SSH-2.0-OpenSSH_9.2\r\n"), GET);
        failsOn(Scripts.streamForever(3), GET);
    }

    @Test
    void endlessHeadIsCutOff() {
        byte[] padding = new byte[16_000];
        Script endless = H2.answering(H2.frame(H2.HEADERS, 0, H2.STREAM, padding))
                .then(c -> {
                    while (true) {
                        c.send(H2.frame(9, 0, H2.STREAM, padding));
                    }
                });
        failsOn(endless, GET);
    }

    @Test
    void endlessBodyIsReadUpTo64KiB() {
        byte[] piece = "x".repeat(16_000).getBytes(StandardCharsets.US_ASCII);
        Script endless = H2.answering(H2.headers(false, ":status", "200")).then(c -> {
            while (true) {
                c.send(H2.data(false, piece));
            }
        });
        failsOn(endless, Https.inHttp2(Https.getting("y")));
        try (ScriptedBackend backend = ScriptedBackend.start(endless)) {
            assertEquals(Finding.pass("HTTP 200"), bench.run(GET, backend.address()));
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void closeAtAnyStageIsTold() {
        assertEnded("no answer", run(c -> c.shutdownOutput(), GET));
        // What the codec still writes may meet a socket that is closed already: then it is a reset that is seen.
        assertEnded("no answer", run(H2.answering(), GET));
        assertEnded(
                "no end of the body",
                run(H2.answering(H2.headers(false, ":status", "200")), Https.inHttp2(Https.getting("y"))));
        assertEnded("no answer", run(H2.answering().then(ScriptedPeer::reset), GET));
    }

    private static void assertEnded(String missing, Finding finding) {
        assertEquals(Word.FAIL, finding.word());
        assertTrue(finding.detail().matches("connection (reset|closed), and " + missing), finding::detail);
    }

    @Test
    void cancelTellsHowFarItCame() {
        try (ScriptedBackend backend = ScriptedBackend.start(H2.answering().then(Scripts.silent()))) {
            ProbeBench.Started silent = bench.start(GET, backend.address());
            Await.until("the request has come", () -> backend.connection(0).bytesReceived() > 60);
            assertEquals("no answer", silent.cancel());
            Await.equal("open connections", 0, bench::open);
            assertEquals(0, silent.tellings().get());
        }
    }

    private void failsOn(Script script, HttpProbe probe) {
        try (ScriptedBackend backend = ScriptedBackend.start(script)) {
            Finding finding = bench.run(probe, backend.address());
            assertEquals(Word.FAIL, finding.word());
            assertTrue(finding.detail().contains("answer") || finding.detail().contains("no /"), finding::detail);
            Await.equal("open connections", 0, bench::open);
        }
    }

    private Finding answer(HttpProbe probe, byte[]... frames) {
        return run(H2.answering(frames).then(Scripts.readToEnd()), probe);
    }

    private Finding run(Script script, HttpProbe probe) {
        try (ScriptedBackend backend = ScriptedBackend.start(script)) {
            return bench.run(probe, backend.address());
        }
    }
}
