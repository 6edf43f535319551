package dev.tidegate.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.RetireHow;
import dev.tidegate.telemetry.LogLevels;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** The whole balancer in virtual time, over many seeds. One seed: {@code -Dsimulation.seed=N}. */
class SimulationTest {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long ONE = Long.getLong("simulation.seed", -1);

    private static final long TRACED = 8;

    private final ResourceLeakDetector.Level leaks = ResourceLeakDetector.getLevel();

    @BeforeEach
    void sayLittle() {
        LogLevels.set(ONE < 0 ? Level.ERROR : Level.DEBUG);
    }

    @AfterEach
    void asBefore() {
        LogLevels.set(Level.INFO);
        ResourceLeakDetector.setLevel(leaks);
    }

    @Test
    @Tag("slow")
    void whatMustHoldHoldsForAThousandSeeds() throws IOException {
        runAll(1_000);
    }

    @Test
    @Tag("nightly")
    void whatMustHoldHoldsForAHundredThousandSeeds() throws IOException {
        runAll(100_000);
    }

    @Test
    void aSeedGivesTheSameRunEachTime() throws IOException {
        for (long seed = 0; seed < 5; seed++) {
            assertEquals(run(seed), run(seed), "seed " + seed);
        }
    }

    private static long run(long seed) throws IOException {
        try (Simulation simulation = new Simulation(seed)) {
            return simulation.run().trace();
        }
    }

    private static void runAll(int seeds) throws IOException {
        long startNanos = THREADS.getCurrentThreadCpuTime();
        Map<RetireHow, Long> retired = new EnumMap<>(RetireHow.class);
        long events = 0;
        long ended = 0;
        long unanswered = 0;
        for (long seed = ONE < 0 ? 0 : ONE; seed < (ONE < 0 ? seeds : ONE + 1); seed++) {
            if (seed == TRACED) {
                // Where each buffer was touched is told for the first runs. It takes ten times as long.
                ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.SIMPLE);
            }
            try (Simulation simulation = new Simulation(seed)) {
                Judge judge = simulation.run();
                events += simulation.events();
                ended += judge.ended();
                unanswered += judge.unanswered();
                for (RetireHow how : RetireHow.values()) {
                    retired.merge(how, judge.ended(how), Long::sum);
                }
            }
        }
        System.out.printf(
                "simulated: %d connections, retired %s (%d opaque ones with a request on its way), %d tasks in %.1f s of CPU%n",
                ended, retired, unanswered, events, (THREADS.getCurrentThreadCpuTime() - startNanos) / 1e9);
        assertTrue(ended > 0);
        if (ONE < 0) {
            long quiet = retired.get(RetireHow.QUIET);
            assertTrue(unanswered < quiet / 3, "owed answers are not waited for");
            assertTrue(quiet > ended / 10, "hardly anything was retired: the runs prove little");
            for (RetireHow how : RetireHow.values()) {
                assertTrue(retired.get(how) > ended / 200, "hardly anything was retired by " + how);
            }
        }
    }
}
