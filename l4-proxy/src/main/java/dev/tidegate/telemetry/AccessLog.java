package dev.tidegate.telemetry;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One line for each connection that is over. Workers put records into a bounded ring and go on; the daemon thread
 * {@code tidegate-access-log} makes lines of them and writes them in batches, at most 50 ms later. When it cannot keep up
 * or cannot write, the ring fills up, and what comes then is dropped and counted; once it can write again it goes on where
 * it stopped, in the middle of a line if need be.
 *
 * <p>{@link #offer} is for any worker, the rest for control.
 */
public final class AccessLog implements AutoCloseable {
    /** Records that the ring holds, unless told otherwise. */
    public static final int CAPACITY = 16_384;

    private static final Logger log = LoggerFactory.getLogger(AccessLog.class);
    private static final int BATCH_BYTES = 64 * 1024;
    private static final long LATENCY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long STOP_MILLIS = 2_000;

    private final String name;
    private final InstantSource clock;
    private final FloodLog floods;
    private final LongAdder written = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final MessagePassingQueue<AccessRecord> ring; // null when off
    private final Writer writer; // null when off

    /**
     * Opens the log and starts its thread.
     *
     * @param target where lines go
     * @param format how they are laid out
     * @param capacity how many records may wait, rounded up to a power of two
     * @param clock for the time of a connection's end
     * @param floods told, in sums, of drops and of failures to write
     * @throws IOException when the file cannot be opened, with a message for the operator
     */
    public static AccessLog open(
            AccessLogTarget target, AccessLogFormat format, int capacity, InstantSource clock, FloodLog floods)
            throws IOException {
        return new AccessLog(target.toString(), sink(target), format, capacity, clock, floods);
    }

    AccessLog(String name, LogSink sink, AccessLogFormat format, int capacity, InstantSource clock, FloodLog floods) {
        this.name = name;
        this.clock = clock;
        this.floods = floods;
        if (sink == null) {
            ring = null;
            writer = null;
            return;
        }
        ring = new MpscAtomicArrayQueue<>(capacity);
        writer = new Writer(sink, format.lines());
        writer.thread.start();
    }

    private static LogSink sink(AccessLogTarget target) throws IOException {
        if (target instanceof AccessLogTarget.File file) {
            try {
                return ChannelSink.file(file.path());
            } catch (IOException e) {
                throw new IOException(
                        "access log \"" + file + "\" cannot be opened for appending: " + fault(e)
                                + ", or choose another path",
                        e);
            }
        }
        return target instanceof AccessLogTarget.Stdout ? ChannelSink.stdout() : null;
    }

    private static String fault(IOException failed) {
        if (failed instanceof NoSuchFileException) {
            return "its directory does not exist; create it";
        }
        if (failed instanceof AccessDeniedException) {
            return "permission denied; let this user write it";
        }
        return failed.getMessage() + "; see what is there";
    }

    /** Whether records are wanted at all. */
    public boolean isOn() {
        return ring != null;
    }

    /**
     * Hands over a record. Never waits: a record that does not fit is dropped and counted. The record must not be touched
     * afterwards. Hot: allocates nothing.
     */
    public void offer(AccessRecord record) {
        if (ring == null) {
            return;
        }
        record.endMillis = clock.millis();
        if (writer.closing || !ring.offer(record)) {
            drop(1);
        }
    }

    /** Lines written so far. */
    public long written() {
        return written.sum();
    }

    /** Records dropped so far. */
    public long dropped() {
        return dropped.sum();
    }

    /**
     * Opens the file anew by its path, soon: for after a rotation. Nothing is lost, and no line is split between two
     * files. Does nothing for standard output.
     */
    public void reopen() {
        if (writer != null) {
            writer.reopenWanted = true;
            LockSupport.unpark(writer.thread);
        }
    }

    /** Writes what waits, for up to two seconds, and ends the thread. To be called when the workers have ended. */
    @Override
    public void close() {
        if (writer == null) {
            return;
        }
        writer.closing = true;
        LockSupport.unpark(writer.thread);
        try {
            writer.thread.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (writer.thread.isAlive()) {
            // Not interrupted: that would close the descriptor under a write. It is a daemon and ends with the process.
            log.warn("access log not written to its end log={} waiting={}", name, ring.size());
        }
    }

    private void drop(int records) {
        dropped.add(records);
        floods.count(FloodLog.Kind.ACCESS_LOG_DROPPED, name);
    }

    /** What the thread does. */
    private final class Writer {
        private final Thread thread = new Thread(this::run, "tidegate-access-log");
        private final LineBuffer lines = new LineBuffer(BATCH_BYTES + 4096);
        private final LogSink sink;
        private final LineFormat format;
        private volatile boolean closing; // writer: control
        private volatile boolean reopenWanted; // writers: control sets it, the thread clears it

        Writer(LogSink sink, LineFormat format) {
            this.sink = sink;
            this.format = format;
            thread.setDaemon(true);
        }

        private void run() {
            boolean failed = false;
            while (true) {
                // Read before the ring is: what was offered before the close is then in the ring.
                boolean last = closing;
                boolean idle = false;
                try {
                    if (reopenWanted || failed) {
                        reopen();
                    }
                    fill();
                    idle = lines.isEmpty();
                    failed = !flush();
                } catch (RuntimeException fault) {
                    // Ours. What was under way may be why, so it is not tried again; the thread must go on.
                    failed = true;
                    abandon(fault);
                }
                if (last && (idle || failed)) {
                    break;
                }
                if (failed) {
                    LockSupport.parkNanos(this, RETRY_NANOS);
                } else if (idle) {
                    LockSupport.parkNanos(this, LATENCY_NANOS);
                }
            }
            end();
        }

        private void abandon(RuntimeException fault) {
            int abandoned = lines.abandon();
            if (abandoned > 0) {
                drop(abandoned);
            }
            floods.count(FloodLog.Kind.INTERNAL_ERROR, "access log", fault);
        }

        private void reopen() {
            reopenWanted = false;
            try {
                if (sink.reopen()) {
                    lines.rewindToLineStart();
                }
            } catch (IOException e) {
                reopenWanted = true; // until it works; meanwhile the old file goes on
                floods.count(FloodLog.Kind.ACCESS_LOG_FAILED, name, e);
            }
        }

        /** Makes lines of what waits, unless older ones are still to be written. */
        private void fill() {
            if (!lines.isEmpty()) {
                return;
            }
            lines.clear();
            AccessRecord record;
            while (lines.size() < BATCH_BYTES && (record = ring.poll()) != null) {
                int start = lines.size();
                try {
                    format.write(record, lines);
                } catch (IOException | RuntimeException e) {
                    lines.truncate(start);
                    drop(1);
                    floods.count(FloodLog.Kind.INTERNAL_ERROR, "access log line", e);
                }
            }
        }

        private boolean flush() {
            if (lines.isEmpty()) {
                return true;
            }
            ByteBuffer bytes = lines.unwritten();
            int before = bytes.position();
            try {
                sink.write(bytes);
                return true;
            } catch (IOException e) {
                floods.count(FloodLog.Kind.ACCESS_LOG_FAILED, name, e);
                return false;
            } finally {
                written.add(lines.advance(bytes.position() - before));
            }
        }

        private void end() {
            int unwritten = lines.unwrittenLines();
            while (ring.poll() != null) {
                unwritten++;
            }
            if (unwritten > 0) {
                drop(unwritten);
            }
            try {
                sink.close();
            } catch (IOException | RuntimeException e) {
                floods.count(FloodLog.Kind.ACCESS_LOG_FAILED, name, e);
            }
        }
    }
}
