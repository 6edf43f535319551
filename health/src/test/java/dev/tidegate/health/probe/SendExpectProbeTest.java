package dev.tidegate.health.probe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.health.probe.SendExpectProbe.Expect;
import dev.tidegate.health.probe.SendExpectProbe.ExpectRegex;
import dev.tidegate.health.probe.SendExpectProbe.Send;
import dev.tidegate.health.probe.SendExpectProbe.Step;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Scripts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SendExpectProbeTest {
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
    void dialogueOfSeveralStepsPassesAndEndsByFin() {
        Script redis = c -> {
            c.send("hello\r\n");
            assertEquals("PING\r\n", new String(c.readExactly(6), UTF_8));
            c.send("+PONG\r\n");
            assertEquals("QUIT", new String(c.readExactly(4), UTF_8));
            c.readToEnd();
        };
        SendExpectProbe probe = probe(
                new ExpectRegex(Regex.of("^h.*o\r\n")),
                new Send(Bytes.ofText("PING\r\n")),
                new Expect(Bytes.ofText("+PONG")),
                new Send(Bytes.ofHex("51554954")));
        try (ScriptedBackend backend = ScriptedBackend.start(redis)) {
            assertEquals(Finding.pass("all 4 steps done"), bench.run(probe, backend.address()));
            backend.awaitAllDone();
            assertEquals(Ending.FIN, backend.connection(0).ending());
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void whatCameWithTheLastAnswerCountsForTheNextStep() {
        assertEquals(
                Word.PASS,
                answer("one two three", expect("one"), expect("two"), expect("three"))
                        .word());
        assertEquals(
                Finding.fail("connection closed, and no \"one\"; came: \" two\""),
                answer("one two", expect("one"), expect("one")));
    }

    @Test
    void answerInSingleBytesIsPutTogether() {
        try (ScriptedBackend backend =
                ScriptedBackend.start(Scripts.sliced("aaab-ready".getBytes(UTF_8), Duration.ofMillis(1))
                        .then(Scripts.readToEnd()))) {
            assertEquals(
                    Word.PASS,
                    bench.run(probe(expect("aab"), expect("-ready")), backend.address())
                            .word());
        }
    }

    @Test
    void notReadyIsLookedForFirst() {
        SendExpectProbe probe = new SendExpectProbe(List.of(expect("state")), Optional.of(Regex.of("drain(ing)?")));
        try (ScriptedBackend backend = ScriptedBackend.start(c -> c.send("state: draining\n"))) {
            assertEquals(Finding.notReady("answered \"state: draining\\n\""), bench.run(probe, backend.address()));
        }
    }

    @Test
    void failureTellsWhatWasExpectedAndWhatCame() {
        assertEquals(Finding.fail("connection closed, and no \"+OK\"; came: nothing"), answer("", expect("+OK")));
        assertEquals(
                Finding.fail("connection closed, and no /^220 /; came: \"\\x00\\xff\\\"5\\\\\\r\\n\""),
                answer(Bytes.ofHex("00ff22355c0d0a"), new ExpectRegex(Regex.of("^220 "))));
        Finding longOne = answer("x".repeat(100), expect("+OK"));
        assertEquals(
                "connection closed, and no \"+OK\"; came: \"" + "x".repeat(64) + "\"... (100 bytes)", longOne.detail());
    }

    @Test
    void moreThan64KiBWithoutAMatchFails() {
        try (ScriptedBackend backend = ScriptedBackend.start(Scripts.streamForever(1))) {
            Finding finding = bench.run(probe(expect("no such text in any random stream")), backend.address());
            assertEquals(Word.FAIL, finding.word());
            assertTrue(
                    finding.detail()
                            .startsWith("no \"no such text in any random stream\" in the first 64 KiB; came: \""),
                    finding::detail);
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void expressionThatTriesEverythingIsGivenUp() {
        Finding finding = answer("a".repeat(500), new ExpectRegex(Regex.of("a*a*a*a*a*b")));
        assertEquals(
                Finding.fail("looking for /a*a*a*a*a*b/ in what came takes too much work; write a simpler expression"),
                finding);
        Finding deep = answer("ab".repeat(30_000), new ExpectRegex(Regex.of("^(a|b)*c")));
        assertEquals(Word.FAIL, deep.word(), deep::detail);
    }

    @Test
    void resetIsToldAsOne() {
        try (ScriptedBackend backend = ScriptedBackend.start(Scripts.rstAfterReading(4))) {
            Finding finding = bench.run(probe(new Send(Bytes.ofText("PING")), expect("PONG")), backend.address());
            assertEquals(Finding.fail("connection reset, and no \"PONG\""), finding);
        }
    }

    @Test
    void refusedConnectIsToldInPlainWordsByBothTransports() {
        try (ScriptedBackend backend = ScriptedBackend.refusing();
                ProbeBench epoll = ProbeBench.epoll()) {
            assertEquals(Finding.fail("connection refused"), bench.run(probe(expect("x")), backend.address()));
            assertEquals(Finding.fail("connection refused"), epoll.run(probe(expect("x")), backend.address()));
        }
    }

    @Test
    void cancelTellsHowFarItCameAndNothingAfterwards() {
        try (ScriptedBackend backend = ScriptedBackend.start(Scripts.silent());
                ScriptedBackend hole = ScriptedBackend.blackHole()) {
            ProbeBench.Started silent = bench.start(probe(expect("+OK")), backend.address());
            backend.awaitConnections(1);
            Await.until(
                    "it awaits the answer",
                    () -> bench.onLoop(() -> silent.run().toString() != null && bench.open() == 1));
            String stage = silent.cancel();
            assertTrue(List.of("no \"+OK\"", "no connection").contains(stage), stage);
            assertEquals(stage, silent.cancel());

            ProbeBench.Started lost = bench.start(probe(expect("+OK")), hole.address());
            assertEquals("no connection", lost.cancel());
            Await.equal("open connections", 0, bench::open);
            assertEquals(0, silent.tellings().get() + lost.tellings().get());
        }
    }

    @Test
    void probesThatAskTheSameAreEqual() {
        assertEquals(
                probe(new Send(Bytes.ofText("a")), new ExpectRegex(Regex.of("b"))),
                probe(new Send(Bytes.ofHex("61")), new ExpectRegex(Regex.of("b"))));
        assertNotEquals(probe(new ExpectRegex(Regex.of("b"))), probe(new ExpectRegex(Regex.of("c"))));
    }

    private Finding answer(String text, Step... steps) {
        return run(text.isEmpty() ? c -> {} : c -> c.send(text), steps);
    }

    private Finding answer(Bytes bytes, Step... steps) {
        byte[] array = new byte[bytes.length()];
        bytes.toBuffer().readBytes(array);
        return run(c -> c.send(array), steps);
    }

    private Finding run(Script script, Step... steps) {
        try (ScriptedBackend backend = ScriptedBackend.start(script)) {
            return bench.run(probe(steps), backend.address());
        }
    }

    private static SendExpectProbe probe(Step... steps) {
        return new SendExpectProbe(List.of(steps), Optional.empty());
    }

    private static Step expect(String text) {
        return new Expect(Bytes.ofText(text));
    }
}
