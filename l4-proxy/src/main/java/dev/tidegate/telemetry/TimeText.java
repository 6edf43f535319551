package dev.tidegate.telemetry;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Wall-clock times as text in UTC with milliseconds; the text of a second is made once. Confined to its user. */
final class TimeText {
    private final DateTimeFormatter formatter;
    private long second = Long.MIN_VALUE;
    private String secondText = "";

    /**
     * @param pattern down to the seconds
     */
    TimeText(String pattern) {
        formatter = DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
    }

    /** Appends the time, to the millisecond. */
    void append(long epochMillis, StringBuilder out) {
        long now = Math.floorDiv(epochMillis, 1000L);
        if (now != second) {
            second = now;
            secondText = formatter.format(Instant.ofEpochSecond(now));
        }
        int millis = (int) Math.floorMod(epochMillis, 1000L);
        out.append(secondText)
                .append('.')
                .append((char) ('0' + millis / 100))
                .append((char) ('0' + millis / 10 % 10))
                .append((char) ('0' + millis % 10));
    }
}
