package dev.tidegate.systemd;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as {@code systemctl show} prints them: {@code 1min 30s}, see systemd.time(7). */
final class TimeSpan {
    /** What stands for a time without end. */
    static final Duration INFINITY = Duration.ofSeconds(Long.MAX_VALUE);

    private static final Pattern PART = Pattern.compile("\\s*(\\d+)(?:\\.(\\d{1,9}))?\\s*([a-z]+)");

    private static final Map<String, Long> UNIT_NANOS = Map.of(
            "us", 1_000L,
            "ms", 1_000_000L,
            "s", 1_000_000_000L,
            "min", 60_000_000_000L,
            "h", 3_600_000_000_000L,
            "d", 86_400_000_000_000L,
            "w", 604_800_000_000_000L,
            "month", 2_629_800_000_000_000L,
            "y", 31_557_600_000_000_000L);

    private TimeSpan() {}

    /** The time; empty for a text that is none. */
    static Optional<Duration> parse(String text) {
        String trimmed = text.strip();
        if (trimmed.equals("infinity")) {
            return Optional.of(INFINITY);
        }
        Matcher part = PART.matcher(trimmed);
        Duration sum = Duration.ZERO;
        int end = 0;
        while (part.find() && part.start() == end) {
            Long unitNanos = UNIT_NANOS.get(part.group(3));
            if (unitNanos == null) {
                return Optional.empty();
            }
            Duration unit = Duration.ofNanos(unitNanos);
            sum = sum.plus(unit.multipliedBy(Long.parseLong(part.group(1))));
            if (part.group(2) != null) {
                sum = sum.plus(Duration.ofNanos((long) (Double.parseDouble("0." + part.group(2)) * unitNanos)));
            }
            end = part.end();
        }
        return end > 0 && end == trimmed.length() ? Optional.of(sum) : Optional.empty();
    }
}
