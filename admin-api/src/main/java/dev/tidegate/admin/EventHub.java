package dev.tidegate.admin;

import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.StatsView;
import dev.tidegate.admin.view.StatusView;
import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All followers of events. Follows the proxy's events only while somebody follows here, and writes each event as text once
 * for all. Confined to the admin loop, except {@link #onEvent}.
 */
final class EventHub {
    private static final Logger log = LoggerFactory.getLogger(EventHub.class);
    private static final int REPLAY_MAX = 1000;
    /** Events on their way to the loop. Beyond it they are left out; a follower sees that by the gap in the ids. */
    private static final int QUEUED_MAX = 4096;
    /** Followers that ask at about the same time share one look at everything. */
    private static final long STATS_FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ProxyOperations operations;
    private final AdminLimits limits;
    private final EventExecutor loop;
    private final LongSupplier nanoTime;
    private final List<EventStream> streams = new ArrayList<>();
    private final AtomicInteger queued = new AtomicInteger();
    private Runnable unfollow = () -> {};
    private CompletableFuture<byte[]> stats;
    private long statsNanos;
    private long dropped;

    EventHub(ProxyOperations operations, AdminLimits limits, EventExecutor loop, LongSupplier nanoTime) {
        this.operations = operations;
        this.limits = limits;
        this.loop = loop;
        this.nanoTime = nanoTime;
    }

    boolean isFull() {
        return streams.size() >= limits.streams();
    }

    int size() {
        return streams.size();
    }

    /** Begins to tell; the head of the answer is out already. */
    void join(Channel channel, Caller caller, StreamOptions options) {
        channel.config()
                .setWriteBufferWaterMark(new WriteBufferWaterMark(limits.streamBytes() / 2, limits.streamBytes()));
        EventStream stream = new EventStream(channel, caller);
        streams.add(stream);
        if (streams.size() == 1) {
            unfollow = operations.followEvents(this::onEvent);
        }
        // Followed first, looked back then: nothing falls between, and what comes twice has the same id.
        replay(stream, options);
        Future<?> beat = every(limits.heartbeat(), limits.heartbeat(), () -> beat(stream));
        Future<?> sample = options.stats()
                .<Future<?>>map(interval -> every(Duration.ZERO, interval, () -> tellStats(stream)))
                .orElse(beat);
        channel.closeFuture().addListener(closed -> {
            beat.cancel(false);
            sample.cancel(false);
            leave(stream);
        });
    }

    private Future<?> every(Duration first, Duration then, Runnable task) {
        return loop.scheduleAtFixedRate(task, first.toNanos(), then.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void leave(EventStream stream) {
        if (streams.remove(stream) && streams.isEmpty()) {
            unfollow.run();
            unfollow = () -> {};
        }
    }

    private void replay(EventStream stream, StreamOptions options) {
        int wanted = options.after().isPresent() ? REPLAY_MAX : options.recent();
        List<EventView> events = wanted == 0 ? List.of() : operations.recentEvents(wanted);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(": tidegate events\n\n".getBytes(StandardCharsets.UTF_8));
        long last = Long.MIN_VALUE;
        for (EventView event : events) {
            if (options.after().isEmpty() || event.id() > options.after().getAsLong()) {
                all.writeBytes(frame(event));
                last = event.id();
            }
        }
        stream.begin(all.toByteArray(), last);
    }

    /** Any thread. */
    private void onEvent(EventView event) {
        if (queued.incrementAndGet() > QUEUED_MAX) {
            queued.decrementAndGet();
            return;
        }
        try {
            loop.execute(() -> {
                queued.decrementAndGet();
                tell(event);
            });
        } catch (RejectedExecutionException e) {
            log.trace("an event came after the admin server's end", e);
        }
    }

    private void tell(EventView event) {
        byte[] frame = frame(event);
        for (EventStream stream : List.copyOf(streams)) {
            if (!stream.tryTell(event, frame)) {
                drop(stream);
            }
        }
    }

    private void beat(EventStream stream) {
        if (!stream.caller().stillGood().getAsBoolean()) {
            log.info(
                    "event stream ended, its token is good no more client={}",
                    stream.caller().from());
            stream.channel().close();
        } else if (!stream.tryBeat()) {
            drop(stream);
        }
    }

    private void drop(EventStream stream) {
        dropped++;
        log.info(
                "event stream dropped, it takes too slowly client={} dropped_total={}",
                stream.caller().from(),
                dropped);
        stream.channel().close();
    }

    private void tellStats(EventStream stream) {
        stats().whenComplete((frame, fault) -> {
            if (fault == null) {
                stream.tellStats(frame);
            }
        });
    }

    private CompletionStage<byte[]> stats() {
        boolean fresh = stats != null && (!stats.isDone() || nanoTime.getAsLong() - statsNanos < STATS_FRESH_NANOS);
        if (!fresh) {
            CompletableFuture<byte[]> next = new CompletableFuture<>();
            stats = next;
            operations.status().whenComplete((status, fault) -> onLoop(() -> finishStats(next, status, fault)));
        }
        return stats;
    }

    private void finishStats(CompletableFuture<byte[]> next, StatusView status, Throwable fault) {
        statsNanos = nanoTime.getAsLong();
        try {
            if (fault != null) {
                throw new IllegalStateException(fault);
            }
            StatsView view = new StatsView(status, operations.frontends(), operations.backends());
            next.complete(("event: stats\ndata: " + Json.text(view) + "\n\n").getBytes(StandardCharsets.UTF_8));
        } catch (RuntimeException e) {
            log.error("the state of everything cannot be told", e);
            next.completeExceptionally(e);
        }
    }

    private void onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else if (!loop.isShuttingDown()) {
            loop.execute(task);
        }
    }

    private static byte[] frame(EventView event) {
        // A type is a word of ours; were it more than one line, it would be another field.
        String type = event.type().replaceAll("[\\r\\n]", " ");
        return ("id: " + event.id() + "\nevent: " + type + "\ndata: " + Json.text(event) + "\n\n")
                .getBytes(StandardCharsets.UTF_8);
    }
}
