package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedPeer;
import dev.tidegate.testkit.Scripts;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** HTTP/1.1 against servers that do what none should. */
class HttpProbeTest {
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
    void requestIsAsConfiguredAndTheConnectionEndsByFin() {
        HttpProbe probe = new HttpProbe(
                new HttpProbe.Request(
                        "OPTIONS", "/ready?deep=1", Optional.empty(), List.of(new HttpProbe.Header("X-Why", "health"))),
                Https.passing(Optional.empty()),
                false);
        try (ScriptedBackend backend = ScriptedBackend.start(
                afterRequest("HTTP/1.1 204 No Content\r\n\r\n").then(Scripts.finThenRead()))) {
            assertEquals(Finding.pass("HTTP 204"), bench.run(probe, backend.address()));
            backend.awaitAllDone();
            String sent = backend.connection(0).firstText();
            assertTrue(sent.startsWith("OPTIONS /ready?deep=1 HTTP/1.1\r\n"), sent);
            for (String line : List.of("host: a.internal:8080", "X-Why: health", "connection: close")) {
                assertTrue(sent.contains("\r\n" + line + "\r\n"), sent);
            }
            assertEquals(Ending.FIN, backend.connection(0).ending());
            Await.equal("open connections", 0, bench::open);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "200, PASS, 'HTTP 200'",
        "399, PASS, 'HTTP 399'",
        "500, FAIL, 'HTTP 500, expected 200-399, 418'",
        "404, FAIL, 'HTTP 404, expected 200-399, 418'",
        "418, PASS, 'HTTP 418'",
        "503, NOT_READY, 'HTTP 503'"
    })
    void statusDecides(int status, Word word, String detail) {
        HttpProbe probe = new HttpProbe(
                Https.GET,
                new HttpProbe.Expected(
                        List.of(new HttpProbe.Statuses(200, 399), new HttpProbe.Statuses(418, 418)),
                        List.of(new HttpProbe.Statuses(503, 503)),
                        Optional.empty()),
                false);
        assertEquals(
                new Finding(word, detail), answer(probe, "HTTP/1.1 " + status + " So\r\nContent-Length: 0\r\n\r\n"));
    }

    @Test
    void interimAnswersAreSkipped() {
        String interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        String last = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        assertEquals(Finding.pass("HTTP 200"), answer(Https.get(), interim.concat(last)));
        assertEquals(
                Finding.fail("HTTP 101, and nobody asked for another protocol"),
                answer(Https.get(), "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"));
    }

    @Test
    void bodyIsSearchedInWhateverPiecesItComes() {
        String chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nsta\r\n8\r\ntus: ok\n\r\n0\r\n\r\n";
        assertEquals(Finding.pass("HTTP 200, /status: ok/ found"), answer(Https.getting("status: ok"), chunked));
        assertEquals(
                Finding.fail("HTTP 200, no /absent/ in the body; it begins: \"status: ok\\n\""),
                answer(Https.getting("absent"), chunked));
        assertEquals(
                Finding.pass("HTTP 200, /up$/ found"),
                answer(Https.getting("up$"), "HTTP/1.0 200 OK\r\n\r\neverything is up"));
        assertEquals(
                Finding.fail("HTTP 200, no /a/ in the body; it begins: nothing"),
                answer(Https.getting("a"), "HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n"));
    }

    /** What a part of the body ends with is not what the body ends with. */
    @ParameterizedTest
    @CsvSource({
        "'ok$', '3', ' ko', 'no'",
        "'ok(?! no)', '3', ' no', 'no'",
        "'ok\\b', '3', 'ays', 'no'",
        "'ok$', '3', ' ok', 'yes'",
        "'all ok', '3', ' ko', 'yes'"
    })
    void expressionThatAsksForTheEndOrForAbsenceWaitsForTheRest(String body, String size, String rest, String found) {
        String chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nall ok\r\n" + size + "\r\n" + rest
                + "\r\n0\r\n\r\n";
        assertEquals(
                found.equals("yes")
                        ? Finding.pass("HTTP 200, /" + body + "/ found")
                        : Finding.fail("HTTP 200, no /" + body + "/ in the body; it begins: \"all ok" + rest + "\""),
                answer(Https.getting(body), chunked));
    }

    @Test
    void headDecidesAtOnceWhereNoBodyIsWanted() {
        try (ScriptedBackend backend =
                ScriptedBackend.start(afterRequest("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                        .then(Scripts.readToEnd()))) {
            assertEquals(Finding.pass("HTTP 200"), bench.run(Https.get(), backend.address()));
            backend.awaitAllDone();
            assertEquals(Ending.FIN, backend.connection(0).ending());
        }
    }

    @Test
    void answerInSingleBytesIsPutTogether() {
        byte[] answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);
        try (ScriptedBackend backend = ScriptedBackend.start(afterRequest("")
                .then(Scripts.sliced(answer, Duration.ofMillis(1)))
                .then(Scripts.readToEnd()))) {
            assertEquals(Finding.pass("HTTP 200, /^ok$/ found"), bench.run(Https.getting("^ok$"), backend.address()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', 'connection closed, and no answer'",
        "'HTTP/1.1 20', 'connection closed, and no answer'",
        "'HTTP/1.1 200 OK\r\nConten', 'connection closed, and no answer'",
        "'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', 'connection closed, and no end of the body'"
    })
    void closeAtAnyStageIsTold(String answer, String detail) {
        assertEquals(Finding.fail(detail), answer(Https.getting("d"), answer));
    }

    @Test
    void garbageIsTold() {
        Finding finding = answer(Https.get(), "SSH-2.0-OpenSSH_9.2\r\n\r\n");
        assertEquals(Word.FAIL, finding.word());
        assertTrue(finding.detail().startsWith("the answer is not HTTP: "), finding::detail);
        Finding length = answer(Https.get(), "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n");
        assertEquals(Word.FAIL, length.word(), length::detail);
    }

    @Test
    void endlessHeadIsCutOff() {
        Script endless = afterRequest("HTTP/1.1 200 OK\r\n").then(c -> {
            while (true) {
                c.send("x-more: " + "y".repeat(1000) + "\r\n");
            }
        });
        failsOn(endless, Https.get(), "the answer is not HTTP: ");
        failsOn(afterRequest("HTTP/1.1 200 ").then(Scripts.streamForever(1)), Https.get(), "the answer is not HTTP: ");
    }

    @Test
    void endlessBodyIsReadUpTo64KiB() {
        Script endless = afterRequest("HTTP/1.1 200 OK\r\n\r\n").then(Scripts.streamForever(1));
        failsOn(endless, Https.getting("no such words in any random stream"), "HTTP 200, no /no such");
        try (ScriptedBackend backend = ScriptedBackend.start(endless)) {
            assertEquals(Finding.pass("HTTP 200"), bench.run(Https.get(), backend.address()));
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void resetIsToldAsOne() {
        try (ScriptedBackend backend = ScriptedBackend.start(afterRequest("").then(ScriptedPeer::reset))) {
            assertEquals(Finding.fail("connection reset, and no answer"), bench.run(Https.get(), backend.address()));
        }
    }

    @Test
    void cancelTellsHowFarItCame() {
        try (ScriptedBackend backend = ScriptedBackend.start(afterRequest("").then(Scripts.silent()));
                ScriptedBackend half = ScriptedBackend.start(
                        afterRequest("HTTP/1.1 200 OK\r\n\r\nx").then(Scripts.silent()))) {
            ProbeBench.Started silent = bench.start(Https.get(), backend.address());
            Await.until(
                    "the request has come",
                    () -> backend.connection(0).firstText().endsWith("\r\n\r\n"));
            assertEquals("no answer", silent.cancel());
            ProbeBench.Started body = bench.start(Https.getting("y"), half.address());
            half.awaitConnections(1);
            Await.until("half an answer is out", () -> half.connection(0).bytesSent() > 0);
            half.connection(0).awaitAcknowledged();
            String stage = body.cancel();
            assertTrue(List.of("no end of the body", "no answer").contains(stage), stage);
            Await.equal("open connections", 0, bench::open);
            assertEquals(0, silent.tellings().get() + body.tellings().get());
        }
    }

    @Test
    void requestThatWouldBreakIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new HttpProbe.Header("a b", "c"));
        assertThrows(IllegalArgumentException.class, () -> new HttpProbe.Header("a", "c\r\nd: e"));
        assertThrows(
                IllegalArgumentException.class,
                () -> new HttpProbe.Request("GET", "/a b", Optional.empty(), List.of()));
    }

    @Test
    void probesThatAskTheSameAreEqual() {
        assertEquals(Https.getting("a.*b"), Https.getting("a.*b"));
    }

    private void failsOn(Script script, HttpProbe probe, String detail) {
        try (ScriptedBackend backend = ScriptedBackend.start(script)) {
            Finding finding = bench.run(probe, backend.address());
            assertEquals(Word.FAIL, finding.word());
            assertTrue(finding.detail().startsWith(detail), finding::detail);
            Await.equal("open connections", 0, bench::open);
        }
    }

    private Finding answer(HttpProbe probe, String text) {
        try (ScriptedBackend backend = ScriptedBackend.start(afterRequest(text))) {
            return bench.run(probe, backend.address());
        }
    }

    static Script afterRequest(String answer) {
        return c -> {
            readHead(c);
            if (!answer.isEmpty()) {
                c.send(answer);
            }
        };
    }

    private static void readHead(ScriptedPeer peer) throws IOException {
        byte[] chunk = new byte[4096];
        while (!peer.firstText().endsWith("\r\n\r\n")) {
            if (peer.read(chunk) < 0) {
                throw new EOFException("FIN before the end of the request");
            }
        }
    }
}
