package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whose turn it is, with real programs that hang. */
class ProgramsTest {
    private static final int SHARED = 3;

    private final Programs programs = new Programs(SHARED);
    private final List<Run> all = new ArrayList<>();

    /** One program, and what was told of it. */
    private static final class Run implements Programs.Audience {
        private final CountDownLatch turn = new CountDownLatch(1);
        private final CompletableFuture<Finding> end = new CompletableFuture<>();
        private final AtomicInteger ends = new AtomicInteger();
        private Programs.Program program;

        @Override
        public void onTurn() {
            turn.countDown();
        }

        @Override
        public void onEnd(Finding finding) {
            ends.incrementAndGet();
            end.complete(finding);
        }

        boolean hasTurn() {
            return turn.getCount() == 0;
        }
    }

    @AfterEach
    void end() {
        all.forEach(run -> run.program.cancel());
    }

    private Run run(String backend, String... command) {
        Run run = new Run();
        run.program = programs.run(backend, List.of(command), Map.of(), run);
        all.add(run);
        return run;
    }

    private List<Run> hang(String backend, int count) {
        List<Run> hanging = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            hanging.add(run(backend, "/bin/sleep", "1000"));
        }
        return hanging;
    }

    private static long turns(List<Run> runs) {
        return runs.stream().filter(Run::hasTurn).count();
    }

    /** Whatever was asked for before has been done when a program of another backend has run. */
    private void settle() {
        Run run = run("another", "/bin/true");
        Await.until("a program of another backend has run", run.end::isDone);
        assertEquals(Finding.pass("exit code 0"), run.end.join());
    }

    @Test
    void programsOfOneBackendThatHangTakeNoTurnOfAnothers() {
        List<Run> hanging = hang("x", 40);
        settle();

        assertEquals(Programs.OWN + SHARED, turns(hanging));
        assertEquals(
                "no turn for the program, as each backend may run 4 at a time, and all share 3 beyond that",
                hanging.get(39).program.stage());
        List<Run> own = hang("y", Programs.OWN + 1);
        settle();
        assertEquals(Programs.OWN, turns(own));
    }

    @Test
    void whoeverHasFewestGetsTheNextSharedTurn() {
        List<Run> x = hang("x", 20);
        settle();
        List<Run> y = hang("y", 20);
        settle();
        x.get(0).program.cancel();
        Await.until("one more of y has its turn", () -> turns(y) == Programs.OWN + 1);

        assertEquals(Programs.OWN + SHARED, turns(x));
    }

    @Test
    void oneThatIsCancelledWhileItWaitsNeverStarts() {
        List<Run> hanging = hang("x", Programs.OWN + SHARED);
        Run given = run("x", "/bin/true");
        Run next = run("x", "/bin/true");
        settle();
        given.program.cancel();
        hanging.get(0).program.cancel();
        Await.until("the next has run", next.end::isDone);

        assertTrue(!given.hasTurn());
        assertEquals(0, given.ends.get());
    }

    @Test
    void afterAWaitNoCancelledProgramIsLeft() throws InterruptedException {
        List<Run> hanging = hang("x", Programs.OWN + SHARED);
        settle();
        List<ProcessHandle> sleeps =
                ProcessHandle.current().children().filter(ProgramsTest::isSleep).toList();
        assertTrue(sleeps.size() >= Programs.OWN + SHARED, sleeps::toString);

        hanging.forEach(run -> run.program.cancel());

        assertTrue(programs.awaitKills(20_000));
        Await.until("all have ended", () -> sleeps.stream().noneMatch(ProcessHandle::isAlive));
    }

    @Test
    void aWaitWithoutProgramsMakesNoThread() throws InterruptedException {
        Programs unused = new Programs(SHARED);

        assertTrue(unused.awaitKills(0));

        assertFalse(unused.hasThread());
    }

    private static boolean isSleep(ProcessHandle process) {
        return process.info().command().filter(path -> path.endsWith("sleep")).isPresent();
    }

    @Test
    void turnsThatAllShareGrowWithTheMachine() {
        assertEquals(32, Programs.sharedBy(1));
        assertEquals(256, Programs.sharedBy(16));
    }
}
