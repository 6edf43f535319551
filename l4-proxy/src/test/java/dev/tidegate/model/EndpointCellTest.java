package dev.tidegate.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EndpointCellTest {
    private static final InetSocketAddress ONE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
    private static final InetSocketAddress TWO = new InetSocketAddress(InetAddress.getLoopbackAddress(), 82);
    private static final InetSocketAddress THREE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 83);

    /** haproxy/haproxy#2744: in a burst the limit of a server was passed. */
    @Test
    void theLimitIsNeverPassedByAnyNumberOfThreads() throws Exception {
        EndpointCell cell = new EndpointCell("back", "127.0.0.1:80", 0, List.of(ONE));
        AtomicInteger held = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger acquired = new AtomicInteger();
        int threadCount = 8;
        CyclicBarrier start = new CyclicBarrier(threadCount);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < threadCount; i++) {
            Thread thread = new Thread(() -> {
                awaitAll(start);
                for (int n = 0; n < 20_000; n++) {
                    if (cell.tryAcquire(5)) {
                        most.accumulateAndGet(held.incrementAndGet(), Math::max);
                        acquired.incrementAndGet();
                        held.decrementAndGet();
                        cell.release();
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertTrue(most.get() <= 5, "held at once: " + most);
        assertTrue(acquired.get() > 0);
        assertEquals(0, cell.inFlight());
    }

    /** With exactly as many takers as places, each gets one: a refusal means that it was full at that moment. */
    @Test
    void asManyThreadsAsPlacesAreNeverRefused() throws Exception {
        EndpointCell cell = new EndpointCell("back", "127.0.0.1:80", 0, List.of(ONE));
        AtomicInteger refused = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(4);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                awaitAll(start);
                for (int n = 0; n < 50_000; n++) {
                    if (cell.tryAcquire(4)) {
                        cell.release();
                    } else {
                        refused.incrementAndGet();
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertEquals(0, refused.get());
    }

    @Test
    void aReleaseThatWasNotAcquiredIsAFaultOfOurs() {
        EndpointCell cell = new EndpointCell("back", "127.0.0.1:80", 0, List.of(ONE));

        assertThrows(AssertionError.class, cell::release);
    }

    /** bloxbean/yaci#163: all attempts went to the first, dead address of a name. */
    @Test
    void addressesTakeTurns() {
        EndpointCell cell = new EndpointCell("back", "name:80", 0, List.of(ONE, TWO, THREE));

        List<InetSocketAddress> seen = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            seen.add(cell.nextAddress(List.of()));
        }

        assertEquals(List.of(ONE, TWO, THREE, ONE, TWO, THREE), seen);
    }

    @Test
    void anAddressNotTriedYetComesFirstWhoseverTurnItIs() {
        EndpointCell cell = new EndpointCell("back", "name:80", 0, List.of(ONE, TWO, THREE));
        for (int turn = 0; turn < 6; turn++) {
            assertEquals(TWO, cell.nextAddress(List.of(ONE, THREE)));
        }
        assertEquals(ONE, cell.nextAddress(List.of(ONE, TWO, THREE)), "all tried: by turn again");
    }

    @Test
    void unresolvedHasNoAddress() {
        EndpointCell cell = new EndpointCell("back", "name:80", 0, List.of());
        assertFalse(cell.resolved());
        assertNull(cell.nextAddress(List.of()));

        cell.resolve(List.of(TWO));

        assertTrue(cell.resolved());
        assertEquals(TWO, cell.nextAddress(List.of()));
    }

    private static void awaitAll(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException("the other threads did not come", e);
        }
    }
}
