package dev.tidegate.telemetry;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;

/** How reloads came out, counted. Any thread. */
public final class ReloadCounts {
    /** How a reload came out. */
    public enum Result {
        /** The new configuration is in force. */
        APPLIED,
        /** It could not be read or applied; everything stayed as it was. */
        REJECTED,
        /** It says what is in force already. */
        UNCHANGED;

        private final String word = name().toLowerCase(Locale.ROOT);

        /** The word as metrics show it. */
        public String word() {
            return word;
        }
    }

    private final AtomicLongArray counts = new AtomicLongArray(Result.values().length);

    /** Counts one. */
    public void count(Result result) {
        counts.incrementAndGet(result.ordinal());
    }

    /** How many came out so. */
    public long of(Result result) {
        return counts.get(result.ordinal());
    }
}
