package dev.tidegate.testkit;

import static dev.tidegate.testkit.Sockets.at;
import static dev.tidegate.testkit.Sockets.towards;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcTest {
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void socketsAreCountedByStateAndPortOnBothSides(String host) throws Exception {
        try (ScriptedBackend backend =
                        ScriptedBackend.start(ScriptedBackend.Options.DEFAULT.onHost(host), Scripts.silent());
                ScriptedClient client = ScriptedClient.connect(backend.address())) {
            backend.awaitConnections(1);
            Predicate<Sockets.Entry> near = at(backend.address());
            Predicate<Sockets.Entry> far = towards(backend.address());
            assertEquals(1, Sockets.count(Sockets.State.LISTEN, near));
            assertEquals(1, Sockets.count(Sockets.State.ESTABLISHED, near));
            assertEquals(1, Sockets.count(Sockets.State.ESTABLISHED, far));
            assertEquals(
                    3, Sockets.ofThisProcess().stream().filter(near.or(far)).count());
            client.shutdownOutput();
            Await.until(
                    "FIN has arrived",
                    () -> Sockets.count(Sockets.State.CLOSE_WAIT, near) == 1
                            && Sockets.count(Sockets.State.FIN_WAIT2, far) == 1);
            assertEquals(Sockets.State.FIN_WAIT2, client.kernelState());
        }
    }

    /** The kernel lists a socket again when others come or go while the table is read. */
    @Test
    void aSocketThatIsListedMoreThanOnceCountsOnceAndAsItWasLast() {
        String head =
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
        String line = "   1: 0100007F:1F90 0100007F:%s %s 00000000:00000000 00:00000000 00000000     0        0 %s 1\n";
        String table = head
                + line.formatted("8001", "01", "4711")
                + line.formatted("8002", "01", "4712")
                + line.formatted("8001", "08", "4711")
                + line.formatted("8003", "06", "0")
                + line.formatted("8004", "06", "0")
                + line.formatted("8003", "06", "0");

        assertEquals(
                List.of("8001 CLOSE_WAIT", "8002 ESTABLISHED", "8003 TIME_WAIT", "8004 TIME_WAIT"),
                Sockets.parseTable(table, each -> true).stream()
                        .map(entry -> "%04X %s".formatted(entry.remote().getPort(), entry.state()))
                        .toList());
    }

    @Test
    void ipv4OnAnIpv6SocketReadsAsIpv4() {
        Sockets.Entry entry = Sockets.parse(
                "  12: 0000000000000000FFFF00000100007F:1F90 "
                        + "0000000000000000FFFF00000200007F:0050 01 00000007:00000003 00:00000000 00000000  0 0 4711 1 0 20 4 0 10 -1");
        assertEquals("/127.0.0.1:8080", entry.local().toString());
        assertEquals("/127.0.0.2:80", entry.remote().toString());
        assertEquals(Sockets.State.ESTABLISHED, entry.state());
        assertEquals(7, entry.sendQueueBytes());
        assertEquals(3, entry.receiveQueueBytes());
        assertEquals(4711, entry.inode());
    }

    @Test
    void descriptorsOfThisProcessFollowItsSockets() throws Exception {
        ScriptedBackend.refusing().close(); // with the first of its sockets the JDK opens one that it keeps
        int before = Fds.countInThisJvm();
        try (ScriptedBackend backend = ScriptedBackend.refusing()) {
            assertTrue(backend.port() > 0);
            assertEquals(before + 1, Fds.countInThisJvm());
        }
        assertEquals(before, Fds.countInThisJvm());
    }

    @Test
    void cpuTimeOfABusyThreadGrowsAndThatOfTheProcessWithIt() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Thread busy = new Thread(
                () -> {
                    while (!stop.get()) {
                        Thread.onSpinWait();
                    }
                },
                "busy-thread-with-a-long-name");
        Duration processBefore = CpuTime.ofProcess(ProcessHandle.current().pid());
        busy.start();
        try {
            Await.until(
                    "50 ms are burnt",
                    () -> CpuTime.ofThreads("busy-thread-with-a-long").toMillis() >= 50);
            Await.until(
                    "and seen in the process",
                    () -> CpuTime.ofProcess(ProcessHandle.current().pid())
                                    .minus(processBefore)
                                    .toMillis()
                            >= 40);
        } finally {
            stop.set(true);
            busy.join();
        }
        assertThrows(AssertionError.class, () -> CpuTime.ofThreads("busy-thread-with"));
    }

    @Test
    void commandWithSpacesAndParenthesesDoesNotShiftTheTicks() {
        assertEquals(
                Duration.ofMillis(120), CpuTime.parse("7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 5 7 0 0 20 0 1 0 100 0"));
    }

    @Test
    void awaitNamesWhatItWaitedFor() {
        AssertionError late =
                assertThrows(AssertionError.class, () -> Await.until("rain", Duration.ofMillis(10), () -> false));
        assertEquals("still not so after 10 ms: rain", late.getMessage());
    }
}
