package dev.tidegate.worker;

import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.telemetry.WorkerCounters;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.agrona.collections.Long2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop and all that is confined to it: deadlines, connections, randomness, counters. Both sides of a connection
 * live on one worker from accept to close, so that nothing in it needs a lock.
 *
 * <p>Confined to its loop, named {@code tidegate-worker-N}, save for what says otherwise.
 */
public final class Worker {
    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    /** Two ticks this far apart say that the process stood still. */
    private static final long STALL_NANOS = 16 * Deadlines.TICK_NANOS;

    private final int index;
    private final IoEventLoop loop;
    private final Ticker ticker;
    private final RandomGenerator random;
    private final WorkerCounters counters;
    private final Deadlines deadlines;
    private final Long2ObjectHashMap<Resident> residents = new Long2ObjectHashMap<>();
    private final AtomicInteger load = new AtomicInteger();
    private final Runnable tick = this::tick;
    private Future<?> ticking;
    private long coarseNanos;
    private long tickedNanos;
    private boolean skippedTick;
    private long sequence;

    /**
     * @param index from 0
     * @param ticker monotonic time, the same that the loop schedules by
     * @param random the worker's own
     * @param transport what the loop does I/O with
     * @param loops makes the event loop around the (metered) transport
     */
    public Worker(
            int index,
            Ticker ticker,
            RandomGenerator random,
            IoHandlerFactory transport,
            Function<IoHandlerFactory, IoEventLoop> loops) {
        this.index = index;
        this.ticker = ticker;
        this.random = random;
        this.counters = new WorkerCounters(index);
        this.coarseNanos = ticker.nanoTime();
        this.deadlines = new Deadlines(coarseNanos, this::beginTicking);
        this.loop = loops.apply(TurnMeter.around(transport, counters.turns(), () -> coarseNanos = ticker.nanoTime()));
    }

    /** Its number, from 0. Any thread. */
    public int index() {
        return index;
    }

    /** Its loop. Any thread. */
    public EventLoop loop() {
        return loop;
    }

    /** Whether the caller is on the loop. Any thread. */
    public boolean inLoop() {
        return loop.inEventLoop();
    }

    /** The time now. Costs a look at the clock: for connections, not for reads. */
    public long nowNanos() {
        return ticker.nanoTime();
    }

    /**
     * The time when the loop last woke to read or write, or to tick. Free: for reads. It is the loop's own time, so that
     * what waited while the process stood still does not look as if it had come before.
     */
    public long coarseNanos() {
        return coarseNanos;
    }

    /** Its randomness. */
    public RandomGenerator random() {
        return random;
    }

    /** Its counters. */
    public WorkerCounters counters() {
        return counters;
    }

    /** Its deadlines. */
    public Deadlines deadlines() {
        return deadlines;
    }

    /** Connections given to it and not yet gone, those on their way to it included. Any thread. */
    public int load() {
        return load.get();
    }

    /**
     * Takes one more on, if it has as many as the caller saw. Called by whoever hands a connection over, before it does.
     * Any thread.
     */
    public boolean tryAddLoad(int seen) {
        return load.compareAndSet(seen, seen + 1);
    }

    /** A number for a new connection. */
    public long nextSequence() {
        return ++sequence;
    }

    /** Takes a connection into the table. */
    public void settle(Resident resident) {
        assert inLoop();
        residents.put(resident.sequence(), resident);
        counters.connections(residents.size());
    }

    /** Forgets a connection, and takes its load off. */
    public void leave(Resident resident) {
        assert inLoop();
        residents.remove(resident.sequence());
        counters.connections(residents.size());
        takeLoadOff();
    }

    /** Takes the load of a connection off that did not come into the table. */
    public void takeLoadOff() {
        int left = load.decrementAndGet();
        assert left >= 0;
    }

    /** The connection with that number; null when it has gone. */
    public Resident resident(long number) {
        assert inLoop();
        return residents.get(number);
    }

    /** How many connections are in the table. */
    public int residents() {
        return residents.size();
    }

    /** Visits every connection. The visitor may end any of them. */
    public void forEachResident(Consumer<Resident> visitor) {
        assert inLoop();
        List<Resident> all = new ArrayList<>(residents.values());
        all.forEach(visitor);
    }

    /** Answers the time now, or that of a tick so near that it is still running. */
    private long beginTicking() {
        assert inLoop();
        if (ticking == null) {
            coarseNanos = ticker.nanoTime();
            tickedNanos = coarseNanos;
            ticking =
                    loop.scheduleWithFixedDelay(tick, Deadlines.TICK_NANOS, Deadlines.TICK_NANOS, TimeUnit.NANOSECONDS);
        }
        return coarseNanos;
    }

    private void tick() {
        coarseNanos = ticker.nanoTime();
        // What came while the process stood still has not been read yet, and would look like silence: the loop shall
        // read
        // it first. But once only: a loop whose turns are that slow has its deadlines too.
        skippedTick = !skippedTick && coarseNanos - tickedNanos >= STALL_NANOS;
        tickedNanos = coarseNanos;
        if (skippedTick) {
            return;
        }
        try {
            deadlines.advance(coarseNanos);
        } catch (Throwable fault) {
            // A periodic task that throws is never run again, and all deadlines of this worker would be dead with it.
            log.error("a deadline failed, the others go on worker={}", index, fault);
        }
        if (deadlines.isEmpty() && ticking != null) {
            ticking.cancel(false);
            ticking = null;
        }
    }

    @Override
    public String toString() {
        return "worker " + index;
    }
}
