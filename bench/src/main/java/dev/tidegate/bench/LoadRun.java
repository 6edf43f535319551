package dev.tidegate.bench;

import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The counts of one run while it goes on. Confined to the load loop. */
final class LoadRun {
    /** A proxy that refuses everything would otherwise be asked for ever. */
    private static final int ERRORS_MAX = 100;

    private static final long HIGHEST_LATENCY_NANOS = 60_000_000_000L;

    private final LoadSpec spec;
    private final Histogram latency = new Histogram(HIGHEST_LATENCY_NANOS, 3);
    private final List<LoadClient> clients = new ArrayList<>();
    private long count;
    private long streamed;
    private long exchanged;
    private boolean busy;
    private long errors;
    private String firstError = "";
    private int open;
    private boolean stopping;
    private long windowStartNanos = Long.MAX_VALUE;
    private long windowEndNanos = Long.MAX_VALUE;

    LoadRun(LoadSpec spec) {
        this.spec = spec;
    }

    LoadSpec spec() {
        return spec;
    }

    List<LoadClient> clients() {
        return clients;
    }

    /** Hot: no allocation. */
    void counted(long more) {
        count += more;
    }

    long count() {
        return count;
    }

    /** Bytes of a stream have come: they are what is counted, unless messages are. Hot: no allocation. */
    void streamed(long bytes) {
        if (spec.scenario() == Scenario.MIXED) {
            streamed += bytes;
        } else {
            count += bytes;
        }
    }

    /** Bytes of streams that ran beside the messages that are counted. */
    long streamed() {
        return streamed;
    }

    /** Held connections go on exchanging messages, or fall silent once the last answers have come. */
    void busy(boolean goOn) {
        busy = goOn;
    }

    boolean isBusy() {
        return busy;
    }

    /** A held connection has got an answer behind the one that proved it. Hot: no allocation. */
    void exchanged() {
        exchanged++;
    }

    long exchangedMessages() {
        return exchanged;
    }

    /** Hot: no allocation. A latency counts when its message was to be sent inside the window. */
    void answered(long intendedNanos, long nowNanos) {
        if (intendedNanos - windowStartNanos >= 0 && intendedNanos - windowEndNanos < 0) {
            latency.recordValue(Math.min(Math.max(nowNanos - intendedNanos, 0), HIGHEST_LATENCY_NANOS));
        }
    }

    void window(long startNanos, long endNanos) {
        windowStartNanos = startNanos;
        windowEndNanos = endNanos;
    }

    Histogram latency() {
        return latency;
    }

    void opened() {
        open++;
    }

    void closed() {
        open--;
    }

    int open() {
        return open;
    }

    void failed(String what) {
        errors++;
        if (firstError.isEmpty()) {
            firstError = what;
        }
    }

    long errors() {
        return errors;
    }

    String firstError() {
        return firstError;
    }

    boolean isHopeless() {
        return errors > ERRORS_MAX;
    }

    /** No new message, stream or connection from here on. */
    void stop() {
        stopping = true;
    }

    boolean isStopping() {
        return stopping || isHopeless();
    }
}
