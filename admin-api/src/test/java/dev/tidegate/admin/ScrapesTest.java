package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ScrapesTest {
    private final FakeOperations operations = new FakeOperations();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger made = new AtomicInteger();

    private void holdWhatIsMade() {
        operations.onScrape = () -> {
            made.incrementAndGet();
            begun.countDown();
            try {
                assertTrue(go.await(10, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
    }

    /** What is under way is of before they asked. */
    @Test
    void whoAsksWhileOneIsMadeSharesTheNextWithAllOthersOfThatFormat() throws Exception {
        holdWhatIsMade();
        try (Scrapes scrapes = new Scrapes(operations)) {
            CompletableFuture<Answer> first = ask(scrapes, MetricsFormat.PROMETHEUS_TEXT);
            assertTrue(begun.await(10, TimeUnit.SECONDS));
            List<CompletableFuture<Answer>> later = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                later.add(ask(scrapes, MetricsFormat.PROMETHEUS_TEXT));
            }
            CompletableFuture<Answer> other = ask(scrapes, MetricsFormat.OPENMETRICS);
            go.countDown();

            Answer next = later.get(0).get(10, TimeUnit.SECONDS);
            assertEquals(1, new HashSet<>(later).size());
            assertTrue(next != first.get(10, TimeUnit.SECONDS));
            assertTrue(next != other.get(10, TimeUnit.SECONDS));
            assertEquals(3, made.get());

            assertTrue(next != ask(scrapes, MetricsFormat.PROMETHEUS_TEXT).get(10, TimeUnit.SECONDS));
            assertEquals(4, made.get());
        }
    }

    private static CompletableFuture<Answer> ask(Scrapes scrapes, MetricsFormat format) {
        return scrapes.ask(format).toCompletableFuture();
    }
}
