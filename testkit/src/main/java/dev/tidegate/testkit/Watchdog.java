package dev.tidegate.testkit;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Closes a channel whose blocking write does not move: the JDK bounds reads in time, but not writes. */
final class Watchdog {
    private static final ScheduledExecutorService TIMER = timer();

    private final SocketChannel channel;
    private volatile boolean bitten; // writer: the timer's thread

    Watchdog(SocketChannel channel) {
        this.channel = channel;
    }

    Future<?> arm(Duration bound) {
        return TIMER.schedule(this::bite, bound.toNanos(), TimeUnit.NANOSECONDS);
    }

    boolean bitten() {
        return bitten;
    }

    private Void bite() throws IOException {
        bitten = true;
        channel.close();
        return null;
    }

    private static ScheduledExecutorService timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = Executors.defaultThreadFactory().newThread(task);
            thread.setName("scripted-peer-watchdog");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }
}
