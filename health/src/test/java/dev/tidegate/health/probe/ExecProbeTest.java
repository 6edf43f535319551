package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With real programs, of those that any system has. */
class ExecProbeTest {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 8443);

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
    void exitCodeDecidesAndLastLineIsToldAlong() {
        assertEquals(Finding.pass("exit code 0"), shell("exit 0"));
        assertEquals(Finding.pass("exit code 0: two"), shell("echo one; echo two; echo"));
        assertEquals(Finding.notReady("exit code 75: draining"), shell("echo draining >&2; exit 75"));
        assertEquals(Finding.fail("exit code 3: lag is 7 s"), shell("printf 'lag is 7 s'; exit 3"));
        assertEquals(Finding.fail("exit code 1"), run("/bin/false"));
    }

    @Test
    void lastLineIsCutAndMadeVisible() {
        Finding finding = shell("printf '\\033[31m'; printf 'x%.0s' $(seq 300); exit 1");
        assertEquals("exit code 1: ?[31m" + "x".repeat(195), finding.detail());
    }

    @Test
    void deathBySignalIsTold() {
        assertEquals(Finding.fail("exit code 137 (killed by signal 9)"), shell("kill -KILL $$"));
    }

    @Test
    void programThatCannotBeStartedSaysNothingAboutTheTarget(@TempDir Path directory) throws Exception {
        assertEquals(
                new Finding(Word.VOID, "cannot start /no/such/program: No such file or directory"),
                run("/no/such/program"));
        Path plain = Files.writeString(directory.resolve("plain"), "x");
        assertEquals(new Finding(Word.VOID, "cannot start " + plain + ": Permission denied"), run(plain.toString()));
    }

    /** The system hands a file without a known beginning to a shell, which takes it for a script. */
    @Test
    void textThatIsNoProgramSaysNothingAboutTheTargetThoughItMayBeExecuted(@TempDir Path directory) throws Exception {
        Path text = Files.writeString(directory.resolve("notes"), "no-such-command of ours\n");
        assertTrue(text.toFile().setExecutable(true));

        Finding finding = run(text.toString());

        assertEquals(Word.VOID, finding.word());
        assertTrue(finding.detail().startsWith("cannot run it: exit code 127: "), finding::detail);
        assertTrue(finding.detail().contains("no-such-command"), finding::detail);
    }

    @Test
    void whatRunsAnotherProgramAndFindsNoneSaysNothingAboutTheTarget(@TempDir Path directory) throws Exception {
        Path plain = Files.writeString(directory.resolve("plain"), "x");
        assertEquals(Word.VOID, run("/usr/bin/env", "no-such-command").word());
        assertEquals(Word.VOID, shell("no-such-command").word());
        assertEquals(Word.VOID, shell(plain.toString()).word());
        assertTrue(shell(plain.toString()).detail().startsWith("cannot run it: exit code 126"));
    }

    @Test
    void aScriptWithoutAFirstLineThatNamesItsShellIsAProgram(@TempDir Path directory) throws Exception {
        Path script = Files.writeString(directory.resolve("script"), "echo three of three\nexit 3\n");
        assertTrue(script.toFile().setExecutable(true));

        assertEquals(Finding.fail("exit code 3: three of three"), run(script.toString()));
    }

    @Test
    void environmentNamesTheTargetAndArgumentsPassAsTheyAre() {
        assertEquals(
                Finding.pass("exit code 0: shop|a|a.internal:8080|127.0.0.1|8443|$HOME *"),
                run(
                        "/bin/sh",
                        "-c",
                        "echo \"$TIDEGATE_BACKEND|$TIDEGATE_ENDPOINT|$TIDEGATE_ADDRESS|$TIDEGATE_HOST|$TIDEGATE_PORT|$1\"",
                        "sh",
                        "$HOME *"));
    }

    @Test
    void inputIsEmpty() {
        assertEquals(Finding.pass("exit code 0: end of input"), shell("read line || echo end of input"));
    }

    @Test
    void descendantThatLivesOnIsNotWaitedFor(@TempDir Path directory) throws Exception {
        Path pid = directory.resolve("pid");
        Finding finding = shell("sleep 1000 & echo $! > " + pid + "; echo started");
        assertEquals(Finding.pass("exit code 0: started"), finding);
        // It was handed over to the system; the test ends what it has begun.
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void cancelKillsTheProgramAndItsDescendantsAndNothingIsTold(@TempDir Path directory) throws Exception {
        Path pids = directory.resolve("pids");
        ProbeBench.Started started = bench.start(
                probe("sleep 1000 & echo $$ $! > " + pids + ".new; mv " + pids + ".new " + pids + "; wait"), ADDRESS);
        Await.until("it runs", () -> Files.exists(pids));
        List<ProcessHandle> both = new ArrayList<>();
        for (String pid : Files.readString(pids).strip().split(" ", -1)) {
            both.add(ProcessHandle.of(Long.parseLong(pid)).orElseThrow());
        }
        assertEquals(2, both.size());
        assertEquals("no end of the program", started.cancel());
        Await.until("both have ended", () -> both.stream().noneMatch(ProcessHandle::isAlive));
        assertEquals(Finding.pass("exit code 0"), shell("exit 0"));
        assertEquals(0, started.tellings().get());
    }

    @Test
    void timeBeginsWhenTheProgramDoes() {
        ProbeBench.Started started = bench.start(probe("exit 0"), ADDRESS);
        started.finding();
        assertEquals(1, bench.turns());
        assertFalse(started.run().isWaiting());
    }

    @Test
    void programMayWriteAsMuchAsItLikesAndItsLastLineIsTold() {
        assertEquals(Finding.pass("exit code 0: the end"), shell("head -c 1000000 /dev/zero; echo; echo the end"));
    }

    @Test
    void programThatNeverStopsWritingIsKilledByCancelling() {
        ProbeBench.Started started = bench.start(probe("exec cat /dev/zero"), ADDRESS);
        Await.until("it runs", () -> bench.turns() == 1);
        started.cancel();
        assertEquals(Finding.pass("exit code 0"), shell("exit 0"));
        assertEquals(0, started.tellings().get());
    }

    @Test
    void probesThatAskTheSameAreEqual() {
        assertEquals(new ExecProbe(List.of("/bin/true", "a")), new ExecProbe(List.of("/bin/true", "a")));
        assertThrows(IllegalArgumentException.class, () -> new ExecProbe(List.of()));
    }

    private Finding shell(String script) {
        return run("/bin/sh", "-c", script);
    }

    private Finding run(String... command) {
        return bench.run(new ExecProbe(List.of(command)), ADDRESS);
    }

    private static ExecProbe probe(String script) {
        return new ExecProbe(List.of("/bin/sh", "-c", script));
    }
}
