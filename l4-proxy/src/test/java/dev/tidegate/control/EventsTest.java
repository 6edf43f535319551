package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.view.EventView;
import dev.tidegate.testkit.LeakGuard;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What happened, and who is told of it. */
class EventsTest {
    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    private final Events events = new Events(InstantSource.fixed(NOW));

    private void emit(String type) {
        events.emit(type, "message", Map.of());
    }

    private static List<Long> ids(List<EventView> events) {
        return events.stream().map(EventView::id).toList();
    }

    @Test
    void anEventSaysWhatItWasGivenAndWhen() {
        Map<String, Object> fields = new HashMap<>(Map.of("endpoint", "web/a"));
        EventView event = events.emit("drain-started", "web/a drains", fields);
        fields.clear();
        assertEquals(
                new EventView(1, NOW, "drain-started", "web/a drains", Map.of("endpoint", "web/a")),
                events.recent(10).get(0));
        assertEquals(event, events.recent(10).get(0));
        assertThrows(UnsupportedOperationException.class, () -> event.fields().clear());
    }

    @Test
    void theLastThousandAreKeptTheOldestFirst() {
        assertEquals(List.of(), events.recent(5));
        for (int i = 0; i < 1_234; i++) {
            emit("e");
        }
        assertEquals(LongStream.rangeClosed(235, 1_234).boxed().toList(), ids(events.recent(Integer.MAX_VALUE)));
        assertEquals(List.of(1_233L, 1_234L), ids(events.recent(2)));
        assertEquals(List.of(), events.recent(0));
        assertEquals(List.of(), events.recent(-1));
    }

    @Test
    void aFollowerIsToldOfWhatComesUntilItEnds() {
        emit("before");
        List<EventView> told = new ArrayList<>();
        Runnable end = events.follow(told::add);
        emit("one");
        emit("two");
        end.run();
        emit("after");
        end.run();
        assertEquals(List.of("one", "two"), told.stream().map(EventView::type).toList());
    }

    @Test
    void oneSinkThatFollowsTwiceIsToldTwiceUntilEachEnds() {
        List<Long> told = new ArrayList<>();
        Consumer<EventView> sink = event -> told.add(event.id());
        Runnable first = events.follow(sink);
        Runnable second = events.follow(sink);
        emit("1");
        first.run();
        first.run();
        emit("2");
        second.run();
        emit("3");
        assertEquals(List.of(1L, 1L, 2L), told);
    }

    @Test
    void aFollowerThatThrowsIsDroppedAndHarmsNobody() {
        LeakGuard.installed().expect("a follower of events failed and is dropped.*");
        List<EventView> before = new ArrayList<>();
        List<EventView> after = new ArrayList<>();
        int[] calls = new int[1];
        events.follow(before::add);
        events.follow(event -> {
            calls[0]++;
            throw new IllegalStateException("on purpose");
        });
        events.follow(after::add);
        emit("one");
        emit("two");
        assertEquals(1, calls[0]);
        assertEquals(List.of(1L, 2L), ids(before));
        assertEquals(List.of(1L, 2L), ids(after));
    }

    @Test
    void aFollowerThatEmitsKeepsTheOrderForAll() {
        List<EventView> first = new ArrayList<>();
        List<EventView> last = new ArrayList<>();
        events.follow(event -> {
            first.add(event);
            if (event.type().equals("cause")) {
                emit("effect");
            }
        });
        events.follow(last::add);
        emit("cause");
        assertEquals(List.of(1L, 2L), ids(first));
        assertEquals(List.of(1L, 2L), ids(last));
    }

    @Test
    void aFollowerThatJoinsWhileOthersAreToldGetsOnlyWhatCameLater() {
        List<EventView> late = new ArrayList<>();
        AtomicReference<Runnable> end = new AtomicReference<>();
        events.follow(event -> {
            if (event.type().equals("first")) {
                emit("second"); // waits behind the first
                end.set(events.follow(late::add));
                emit("third");
            }
        });
        emit("first");
        assertEquals(List.of("third"), late.stream().map(EventView::type).toList());
    }

    @Test
    void manyThreadsEmitAndEachFollowerSeesEveryEventOnceInOrder() throws Exception {
        int threads = 4;
        int each = 5_000;
        ConcurrentLinkedQueue<Long> told = new ConcurrentLinkedQueue<>();
        CountDownLatch all = new CountDownLatch(threads * each);
        events.follow(event -> {
            told.add(event.id());
            all.countDown();
        });
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> emitters = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                emitters.add(pool.submit(() -> {
                    for (int n = 0; n < each; n++) {
                        emit("e");
                        Runnable end = events.follow(event -> {});
                        end.run();
                    }
                }));
            }
            for (Future<?> emitter : emitters) {
                emitter.get(30, TimeUnit.SECONDS);
            }
            assertTrue(all.await(30, TimeUnit.SECONDS));
        } finally {
            pool.shutdownNow();
        }
        assertEquals(LongStream.rangeClosed(1, (long) threads * each).boxed().toList(), List.copyOf(told));
    }
}
