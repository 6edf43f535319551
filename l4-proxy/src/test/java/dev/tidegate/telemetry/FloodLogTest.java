package dev.tidegate.telemetry;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import dev.tidegate.testkit.LeakGuard;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class FloodLogTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final AtomicLong nanoTime = new AtomicLong(Long.MAX_VALUE - SECOND); // overflows soon
    private final FloodLog floods = new FloodLog(nanoTime::get);
    private final LogLines lines = new LogLines(FloodLog.class);

    @AfterEach
    void stop() {
        floods.close();
        lines.close();
    }

    private long logDue() {
        return floods.logDue(nanoTime.get());
    }

    @Test
    void theFirstOfAQuietTimeIsLoggedAtOnceAndTheRestInSums() {
        floods.count(FloodLog.Kind.REJECTED_LIMIT, "edge");
        long quiet = logDue();
        for (int i = 0; i < 5312; i++) {
            floods.count(FloodLog.Kind.REJECTED_LIMIT, "edge");
        }
        nanoTime.addAndGet(SECOND - 1);
        long wait = logDue();
        nanoTime.addAndGet(1);
        logDue();
        nanoTime.addAndGet(10 * SECOND);
        floods.count(FloodLog.Kind.REJECTED_LIMIT, "inner");
        logDue();

        assertEquals(
                List.of(
                        "clients refused: limit reached frontend=edge count=1",
                        "clients refused: limit reached example=edge count=5312 in 1s",
                        "clients refused: limit reached frontend=inner count=1"),
                lines.messages());
        assertEquals(Long.MAX_VALUE, quiet);
        assertEquals(1, wait);
    }

    @Test
    void aSumOfSeveralSubjectsIsPutDownToNone() {
        for (int i = 0; i < 1000; i++) {
            floods.count(FloodLog.Kind.DIAL_REFUSED, i % 2 == 0 ? "web/a" : "web/b");
        }
        logDue();

        assertEquals(List.of("connects refused by endpoint example=web/a count=1000"), lines.messages());
    }

    @Test
    void kindsDoNotWaitForEachOther() {
        floods.count(FloodLog.Kind.DIAL_REFUSED, "web/a");
        logDue();
        floods.count(FloodLog.Kind.DIAL_REFUSED, "web/a");
        floods.count(FloodLog.Kind.DIAL_FAILED, "web/b", new IOException("Cannot assign\nrequested address"));
        logDue();

        assertEquals(
                List.of(
                        "connects refused by endpoint endpoint=web/a count=1",
                        "connects to endpoint failed endpoint=web/b error=\"Cannot assign\\u000arequested address\" count=1"),
                lines.messages());
    }

    @Test
    void aFaultOfOurOwnHasItsStackTrace() {
        LeakGuard.installed().expect("FloodLog: internal error where=relay");
        floods.count(FloodLog.Kind.INTERNAL_ERROR, "relay", new IllegalStateException("odd"));
        logDue();

        assertEquals(Level.ERROR, lines.events().get(0).getLevel());
        assertEquals("odd", lines.events().get(0).getThrowableProxy().getMessage());
    }

    @Test
    void noEventOfManyThreadsIsLost() throws InterruptedException {
        floods.start();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        for (int t = 0; t < 4; t++) {
            threads.execute(() -> {
                for (int i = 0; i < 100_000; i++) {
                    nanoTime.addAndGet(SECOND / 1000);
                    floods.count(FloodLog.Kind.NO_ENDPOINT, "web");
                }
            });
        }
        threads.shutdown();
        assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
        floods.close();

        assertEquals(
                400_000,
                lines.messages().stream().mapToLong(FloodLogTest::countOf).sum());
    }

    @Test
    void theThreadLogsByItself() {
        floods.start();

        floods.count(FloodLog.Kind.ACCEPT_FAILED, "0.0.0.0:80", new IOException("Too many open files"));

        await().atMost(Duration.ofSeconds(10)).until(() -> lines.messages().size() == 1);
        assertEquals(
                "accept failed, listener pauses listener=0.0.0.0:80 error=\"Too many open files\" count=1",
                lines.messages().get(0));
    }

    @Test
    void whatIsCountedIsLoggedAtTheEnd() {
        floods.start();
        floods.count(FloodLog.Kind.NO_ENDPOINT, "web");
        await().atMost(Duration.ofSeconds(10)).until(() -> lines.messages().size() == 1);
        floods.count(FloodLog.Kind.NO_ENDPOINT, "web");
        floods.count(FloodLog.Kind.NO_ENDPOINT, "web");

        floods.close();

        assertEquals(
                3, lines.messages().stream().mapToLong(FloodLogTest::countOf).sum());
    }

    private static long countOf(String line) {
        Matcher count = Pattern.compile("count=(\\d+)").matcher(line);
        assertTrue(count.find(), line);
        return Long.parseLong(count.group(1));
    }
}
