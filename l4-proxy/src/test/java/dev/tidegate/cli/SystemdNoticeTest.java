package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.control.RollCall;
import dev.tidegate.control.StopTimes;
import dev.tidegate.systemd.Notifier;
import dev.tidegate.testkit.HandCrankedLoop;
import dev.tidegate.testkit.NotifySocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SystemdNoticeTest {
    private static final String EXTENSION = "EXTEND_TIMEOUT_USEC=20000000";
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final NotifySocket manager = NotifySocket.inAbstract();
    private final HandCrankedLoop loop = HandCrankedLoop.nio();
    private final FakeVitals vitals = new FakeVitals();
    private Notifier notifier;
    private SystemdNotice notice;
    private int seen;

    private static final class FakeVitals implements Vitals {
        int up = 14;
        int connections;
        CompletableFuture<Void> checks = CompletableFuture.completedFuture(null);

        @Override
        public int listeners() {
            return 3;
        }

        @Override
        public int endpoints() {
            return 14;
        }

        @Override
        public int endpointsUp() {
            return up;
        }

        @Override
        public int connections() {
            return connections;
        }

        @Override
        public CompletableFuture<Void> firstChecks() {
            return checks;
        }
    }

    @BeforeEach
    void begin() {
        notifier = Notifier.of(Map.of("NOTIFY_SOCKET", manager.address())::get);
        notice = SystemdNotice.over(notifier, loop.ticker()::nanoTime, loop.eventLoop(), false);
        loop.runReady();
    }

    @AfterEach
    void end() {
        notifier.close();
        manager.close();
        loop.close();
    }

    /** What has been told since this was last asked. */
    private List<String> told() {
        notifier.mainPid(-1); // all that was said before has arrived when this has
        manager.await("MAINPID=-1", seen);
        List<String> all = manager.messages();
        List<String> fresh = all.subList(seen, all.size() - 1);
        seen = all.size();
        return fresh;
    }

    private void serve() {
        notice.up(vitals);
        loop.runReady();
        told();
    }

    private static String ready(String status) {
        return "READY=1\nMAINPID=" + ProcessHandle.current().pid() + "\nSTATUS=" + status;
    }

    private StopTimes times(long listensSeconds, long leftSeconds) {
        long now = loop.ticker().nanoTime();
        return new StopTimes(
                now + Duration.ofSeconds(listensSeconds).toNanos(),
                now + Duration.ofSeconds(leftSeconds).toNanos(),
                now + Duration.ofSeconds(leftSeconds + 3).toNanos());
    }

    @Test
    void aLongStartAsksForTimeUntilItIsUp() {
        assertEquals(List.of("STATUS=starting", EXTENSION), told());
        loop.advance(Duration.ofSeconds(3));
        assertEquals(List.of(EXTENSION, EXTENSION, EXTENSION), told());

        notice.up(vitals);
        loop.runReady();
        assertEquals(List.of(ready("serving 3 listeners, 14 of 14 endpoints up")), told());
        loop.advance(Duration.ofSeconds(3));
        assertEquals(List.of(), told());
    }

    @Test
    void aStartThatNeverEndsGetsNoMoreTimeInTheEnd() {
        loop.advance(SystemdNotice.START_PATIENCE);
        told();
        loop.advance(Duration.ofSeconds(10));
        assertEquals(List.of(), told());
    }

    @Test
    void readyWaitsForTheFirstChecks() {
        vitals.checks = new CompletableFuture<>();
        vitals.up = 0;
        told();
        notice.up(vitals);
        loop.advance(Duration.ofSeconds(2));
        assertEquals(
                List.of("STATUS=listening, the first checks of endpoints are under way", EXTENSION, EXTENSION), told());

        vitals.up = 13;
        vitals.checks.complete(null);
        loop.runReady(); // no time passes
        assertEquals(List.of(ready("serving 3 listeners, 13 of 14 endpoints up")), told());
    }

    @Test
    void firstChecksThatDoNotEndHoldNobodyUpForEver() {
        vitals.checks = new CompletableFuture<>();
        notice.up(vitals);
        loop.advance(SystemdNotice.CHECKS_PATIENCE.plus(SECOND));
        assertEquals(
                1, told().stream().filter(each -> each.startsWith("READY=1")).count());
    }

    @Test
    void theStatusFollowsEndpointsOnceASecondAtMost() {
        serve();
        for (int i = 0; i < 10; i++) {
            vitals.up = i;
            loop.advance(Duration.ofMillis(100));
        }
        assertEquals(List.of("STATUS=serving 3 listeners, 9 of 14 endpoints up"), told());
    }

    @Test
    void everyReloadEndsInReadyWhateverComesOfIt() {
        serve();
        loop.advance(Duration.ofMillis(1_500));
        long micros = loop.ticker().nanoTime() / 1_000;
        notice.onBegin();
        notice.onEnd(false);
        loop.runReady();
        assertEquals(
                List.of(
                        "RELOADING=1\nMONOTONIC_USEC=" + micros
                                + "\nSTATUS=reloading; serving 3 listeners, 14 of 14 endpoints up",
                        ready("serving 3 listeners, 14 of 14 endpoints up; the last reload was rejected, see the log")),
                told());

        notice.onBegin();
        notice.onEnd(true);
        loop.runReady();
        assertEquals(ready("serving 3 listeners, 14 of 14 endpoints up"), told().get(1));
    }

    @Test
    void aReloadBeforeTheProcessIsReadyIsPartOfTheStart() {
        told();
        vitals.checks = new CompletableFuture<>();
        notice.onBegin();
        notice.up(vitals);
        notice.onEnd(true);
        loop.runReady();
        assertEquals(List.of(), told());
    }

    @Test
    void aReloadThatTheStopOvertakesIsEndedFirst() {
        serve();
        notice.onBegin();
        notice.stopping(times(0, 10));
        notice.onEnd(true);
        loop.runReady();

        List<String> all = told();
        assertTrue(all.get(0).startsWith("RELOADING=1\n"), all::toString);
        assertEquals(ready("serving 3 listeners, 14 of 14 endpoints up"), all.get(1));
        assertEquals(
                List.of("STOPPING=1\nSTATUS=draining 0 connections, 10 s left", EXTENSION), all.subList(2, all.size()));
    }

    @Test
    void aStopTellsHowItGoesAndAsksForTimeUntilItIsToBeOver() {
        serve();
        vitals.connections = 412;
        notice.stopping(times(2, 25));
        loop.runReady();
        assertEquals(List.of("STOPPING=1\nSTATUS=lame duck: accepts for 2 s more, 412 connections", EXTENSION), told());
        vitals.connections = 1;
        loop.advance(Duration.ofSeconds(3));
        assertEquals(
                List.of(
                        "STATUS=lame duck: accepts for 1 s more, 1 connection",
                        EXTENSION,
                        "STATUS=draining 1 connection, 23 s left",
                        EXTENSION,
                        "STATUS=draining 1 connection, 22 s left",
                        EXTENSION),
                told());
        List<String> rest = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            loop.advance(Duration.ofSeconds(3));
            rest.addAll(told());
        }
        assertEquals(24, rest.stream().filter(EXTENSION::equals).count(), rest::toString);
        assertEquals(
                1,
                rest.stream().filter("STATUS=ending 1 connection now"::equals).count(),
                rest::toString);
        notice.onBegin();
        notice.onEnd(true);
        loop.advance(Duration.ofSeconds(5));
        assertEquals(List.of(), told());
    }

    @Test
    void aProcessThatHasHandedOverSaysNoMore() {
        serve();
        notice.watchdog(Duration.ofSeconds(1), whenAll -> RollCall.begin(Map.of("control", Runnable::run), whenAll));
        loop.runReady();
        assertEquals(List.of("WATCHDOG=1"), told());
        notice.handedOver(4711);
        notice.onBegin();
        notice.onEnd(true);
        notice.stopping(times(0, 10));
        loop.advance(Duration.ofSeconds(10));
        assertEquals(List.of("MAINPID=4711"), told());
    }

    /** systemd believes the main process alone, and complains of every other that speaks. */
    @Test
    void aProcessThatTakesOverSaysNothingBeforeItIsTheMainOne() {
        told();
        SystemdNotice next = SystemdNotice.over(notifier, loop.ticker()::nanoTime, loop.eventLoop(), true);
        notice.handedOver(4711);
        loop.advance(Duration.ofSeconds(3));
        assertEquals(List.of("MAINPID=4711"), told());

        next.up(vitals);
        loop.runReady();
        assertEquals(List.of(ready("serving 3 listeners, 14 of 14 endpoints up")), told());
    }

    @Test
    void aStopThatStaysForTheProcessBeforeTellsSo() {
        serve();
        notice.stopping(times(0, 25));
        loop.runReady();
        told();
        notice.waitsFor(4711);
        loop.advance(SECOND);
        assertEquals(
                List.of(
                        "STATUS=draining 0 connections, 24 s left; process 4711, which it has taken over from, still drains",
                        EXTENSION),
                told());
    }

    @Test
    void signsOfLifeComeTwiceInEachInterval() {
        serve();
        notice.watchdog(Duration.ofSeconds(3), whenAll -> RollCall.begin(Map.of("control", Runnable::run), whenAll));
        loop.advance(Duration.ofSeconds(3));
        assertEquals(List.of("WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"), told());
    }
}
