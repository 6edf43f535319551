package dev.tidegate.telemetry;

import java.nio.file.FileSystemException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * What can happen a thousand times a second, counted and said in one line a second: the first of a quiet time at once, the
 * further ones summed. A sum is of all subjects of its kind; it names one of them, as {@code example=}.
 *
 * <p>Counted by any thread, which neither waits nor logs; logged by the daemon thread {@code tidegate-flood-log}, so that
 * a slow log stops nobody.
 */
public final class FloodLog implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FloodLog.class);
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long STOP_MILLIS = 1_000;

    /** What may come in floods. */
    public enum Kind {
        /** Accept failed; subject: the listener; cause: the error. */
        ACCEPT_FAILED(Level.WARN, "accept failed, listener pauses", "listener"),
        /** A limit was reached; subject: the frontend, or {@code process}. */
        REJECTED_LIMIT(Level.WARN, "clients refused: limit reached", "frontend"),
        /** There was no candidate; subject: the backend. */
        NO_ENDPOINT(Level.WARN, "clients refused: no endpoint to pick", "backend"),
        /** An attempt was refused; subject: the endpoint. */
        DIAL_REFUSED(Level.WARN, "connects refused by endpoint", "endpoint"),
        /** An attempt took too long; subject: the endpoint. */
        DIAL_TIMEOUT(Level.WARN, "connects to endpoint timed out", "endpoint"),
        /** An attempt failed otherwise; subject: the endpoint; cause: the error. */
        DIAL_FAILED(Level.WARN, "connects to endpoint failed", "endpoint"),
        /** The access log's ring was full; subject: where the log goes. */
        ACCESS_LOG_DROPPED(Level.WARN, "access log lines dropped", "log"),
        /** The access log could not be written; subject: where it goes; cause: the error. */
        ACCESS_LOG_FAILED(Level.WARN, "access log cannot be written, will try again", "log"),
        /** There was no memory to read into; subject: the frontend; cause: the error. */
        OVERLOAD(Level.WARN, "connections ended: no memory left", "frontend"),
        /** A fault of our own; subject: where; cause: the error. */
        INTERNAL_ERROR(Level.ERROR, "internal error", "where");

        private final Level level;
        private final String text;
        private final String key;

        Kind(Level level, String text, String key) {
            this.level = level;
            this.text = text;
            this.key = key;
        }

        /** Whether all its events have the same subject: there is one access log. */
        private boolean hasOneSubject() {
            return this == ACCESS_LOG_DROPPED || this == ACCESS_LOG_FAILED;
        }
    }

    private final LongSupplier nanoTime;
    private final Flood[] floods;
    private volatile Thread thread; // writer: whoever starts and closes
    private volatile boolean closed; // writer: close

    /**
     * Counts from now on, and logs once {@link #start} was called.
     *
     * @param nanoTime monotonic time in nanoseconds
     */
    public FloodLog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        Kind[] kinds = Kind.values();
        floods = new Flood[kinds.length];
        for (Kind kind : kinds) {
            floods[kind.ordinal()] = new Flood(kind);
        }
    }

    /** Starts the thread that logs. */
    public synchronized void start() {
        if (thread != null || closed) {
            return;
        }
        Thread writer = new Thread(this::run, "tidegate-flood-log");
        writer.setDaemon(true);
        thread = writer;
        writer.start();
    }

    /**
     * Counts one event.
     *
     * @param kind what happened
     * @param subject to whom; its {@code toString} is called by the log's thread, for one sample of a second's events
     */
    public void count(Kind kind, Object subject) {
        count(kind, subject, null);
    }

    /**
     * Counts one event with its cause.
     *
     * @param kind what happened
     * @param subject to whom, as above
     * @param cause why; null when there is nothing to say. Of {@link Kind#INTERNAL_ERROR} the stack trace is logged
     */
    public void count(Kind kind, Object subject, Throwable cause) {
        Flood flood = floods[kind.ordinal()];
        flood.events.increment();
        if (!flood.pending) {
            flood.sample = new Sample(subject, cause);
            flood.pending = true;
            LockSupport.unpark(thread);
        }
    }

    /** Logs what was counted and not logged yet, and ends the thread. */
    @Override
    public void close() {
        Thread writer;
        synchronized (this) {
            closed = true;
            writer = thread;
        }
        if (writer == null) {
            return;
        }
        LockSupport.unpark(writer);
        try {
            writer.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!closed) {
            long waitNanos = logDue(nanoTime.getAsLong());
            if (closed) {
                break;
            }
            if (waitNanos == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, waitNanos);
            }
        }
        for (Flood flood : floods) {
            flood.log(nanoTime.getAsLong());
        }
    }

    /**
     * Logs the kinds whose second is over.
     *
     * @return in how many nanoseconds the next one is due; {@link Long#MAX_VALUE} when nothing is counted
     */
    long logDue(long nowNanos) {
        long waitNanos = Long.MAX_VALUE;
        for (Flood flood : floods) {
            if (flood.pending) {
                long dueInNanos = flood.dueInNanos(nowNanos);
                if (dueInNanos <= 0) {
                    flood.log(nowNanos);
                } else {
                    waitNanos = Math.min(waitNanos, dueInNanos);
                }
            }
        }
        return waitNanos;
    }

    private record Sample(Object subject, Throwable cause) {}

    /** The events of one kind. */
    private static final class Flood {
        private final Kind kind;
        private final LongAdder events = new LongAdder();
        private volatile Sample sample; // writer: whoever counts the first event
        private volatile boolean pending; // writers: who counts sets it, the log's thread clears it
        private boolean loggedBefore;
        private long loggedAtNanos;
        private long loggedEvents;

        Flood(Kind kind) {
            this.kind = kind;
        }

        long dueInNanos(long nowNanos) {
            return loggedBefore ? loggedAtNanos + PERIOD_NANOS - nowNanos : 0;
        }

        void log(long nowNanos) {
            // Cleared before the sum is read: an event that comes between asks for a line again, and none is lost.
            pending = false;
            Sample seen = sample;
            long sum = events.sum();
            long count = sum - loggedEvents;
            if (count == 0 || seen == null) {
                return;
            }
            loggedEvents = sum;
            String line = line(seen, count, nowNanos);
            if (kind == Kind.INTERNAL_ERROR && seen.cause() != null) {
                log.atLevel(kind.level).setCause(seen.cause()).log(line);
            } else {
                log.atLevel(kind.level).log(line);
            }
            loggedBefore = true;
            loggedAtNanos = nowNanos;
        }

        /** The JDK says of a file that is not there or may not be opened its path alone. */
        private static String words(Throwable cause) {
            boolean silent = cause instanceof FileSystemException file && file.getReason() == null;
            return silent || cause.getMessage() == null ? cause.toString() : cause.getMessage();
        }

        private String line(Sample seen, long count, long nowNanos) {
            StringBuilder line = new StringBuilder(kind.text)
                    .append(' ')
                    .append(count == 1 || kind.hasOneSubject() ? kind.key : "example")
                    .append('=')
                    .append(OneLine.of(String.valueOf(seen.subject())));
            if (seen.cause() != null) {
                line.append(" error=\"").append(OneLine.of(words(seen.cause()))).append('"');
            }
            line.append(" count=").append(count);
            boolean flowing = loggedBefore && nowNanos - loggedAtNanos < 2 * PERIOD_NANOS;
            if (flowing) {
                line.append(" in 1s");
            }
            return line.toString();
        }
    }
}
