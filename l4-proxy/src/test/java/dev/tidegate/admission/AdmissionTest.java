package dev.tidegate.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admission.Admission.Verdict;
import dev.tidegate.balance.Pickers;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Timeouts;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

class AdmissionTest {
    @Test
    void theProcessesLimitComesFirst() {
        ConnectionLimit limit = new ConnectionLimit(2);
        Admission admission = new Admission(limit);
        Frontend one = frontend("one", 1);
        Frontend two = frontend("two", 5);

        assertEquals(Verdict.ADMITTED, admission.admit(one));
        assertEquals(Verdict.FRONTEND_FULL, admission.admit(one));
        assertEquals(Verdict.ADMITTED, admission.admit(two));
        assertEquals(Verdict.PROCESS_FULL, admission.admit(two));
        assertEquals(Verdict.PROCESS_FULL, admission.admit(one));
        assertEquals(2, limit.active());
        assertEquals(1, one.cell().active());
        assertEquals(1, two.cell().active());
    }

    @Test
    void whoLeavesMakesRoom() {
        Admission admission = new Admission(new ConnectionLimit(1));
        Frontend front = frontend("front", 1);
        for (int i = 0; i < 1_000; i++) {
            assertEquals(Verdict.ADMITTED, admission.admit(front));
            admission.leave(front);
        }
        assertEquals(0, front.cell().active());
    }

    @Test
    void theProcessesLimitIsNeverPassedNotEvenInItsGauge() throws Exception {
        ConnectionLimit limit = new ConnectionLimit(3);

        int most = mostSeen(limit, frontend("front", 1_000), limit::active);

        assertTrue(most <= 3, "gauge read " + most);
        assertEquals(0, limit.active());
    }

    @Test
    void aFrontendsLimitIsNeverPassedNotEvenInItsGauge() throws Exception {
        Frontend front = frontend("front", 3);

        int most = mostSeen(new ConnectionLimit(1_000), front, front.cell()::active);

        assertTrue(most <= 3, "gauge read " + most);
        assertEquals(0, front.cell().active());
    }

    @Test
    void severalThreadsNeverHoldMoreThanTheLimit() throws Exception {
        Admission admission = new Admission(new ConnectionLimit(1_000));
        Frontend front = frontend("front", 3);
        AtomicInteger held = new AtomicInteger();
        AtomicInteger mostHeld = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            threads.add(started(() -> {
                for (int n = 0; n < 50_000; n++) {
                    if (admission.admit(front) == Verdict.ADMITTED) {
                        mostHeld.accumulateAndGet(held.incrementAndGet(), Math::max);
                        held.decrementAndGet();
                        admission.leave(front);
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertTrue(mostHeld.get() >= 1 && mostHeld.get() <= 3, "held at once: " + mostHeld);
        assertEquals(0, front.cell().active());
    }

    /** Fills the limit of 3 and has several threads ask for more; gives the greatest value that the gauge showed. */
    private static int mostSeen(ConnectionLimit limit, Frontend front, IntSupplier gauge) throws Exception {
        Admission admission = new Admission(limit);
        for (int i = 0; i < 3; i++) {
            assertEquals(Verdict.ADMITTED, admission.admit(front));
        }
        AtomicBoolean looking = new AtomicBoolean(true);
        AtomicInteger admitted = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(started(() -> {
                while (looking.get()) {
                    if (admission.admit(front) == Verdict.ADMITTED) {
                        admitted.incrementAndGet();
                    }
                }
            }));
        }
        int most = 0;
        for (int look = 0; look < 3_000_000; look++) {
            most = Math.max(most, gauge.getAsInt());
        }
        looking.set(false);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, admitted.get());
        for (int i = 0; i < 3; i++) {
            admission.leave(front);
        }
        return most;
    }

    private static Thread started(Runnable work) {
        Thread thread = new Thread(work, "admission-test");
        thread.start();
        return thread;
    }

    private static Frontend frontend(String name, int maxConnections) {
        Backend backend = new Backend(
                "back",
                0,
                BalancePolicy.RANDOM,
                Pickers.of(BalancePolicy.RANDOM),
                new EndpointList(List.of()),
                new ConnectPolicy(1, 1, 1, ProxyProtocol.OFF));
        return new Frontend(
                name,
                List.of(),
                backend,
                ProtocolChoice.AUTO,
                maxConnections,
                new Timeouts(Timeouts.OFF, Timeouts.OFF, 0),
                Lifetime.DEFAULT,
                new FrontendCell(name, 0));
    }
}
