package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.BigRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

final class DurationsTest {
    private static final String[] UNITS = {"ms", "s", "m", "h", "d"};
    private static final long[] UNIT_MILLIS = {1, 1_000, 60_000, 3_600_000, 86_400_000};
    private static final BigInteger MAX_MILLIS = BigInteger.valueOf(Long.MAX_VALUE / 1_000_000);

    @Property
    void aWholeNumberWithAUnitIsExactOrRefusedAndNeverWraps(
            @ForAll @BigRange(min = "0", max = "99999999999999999999999") BigInteger number,
            @ForAll @IntRange(max = 4) int unit) {
        String text = number + UNITS[unit];
        BigInteger millis = number.multiply(BigInteger.valueOf(UNIT_MILLIS[unit]));
        if (millis.compareTo(MAX_MILLIS) <= 0) {
            assertEquals(Duration.ofMillis(millis.longValueExact()), Durations.parse(text));
        } else {
            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> Durations.parse(text));
            assertTrue(refusal.getMessage().contains("too long a time"), refusal.getMessage());
        }
    }

    @Property
    void whatIsWrittenReadsBackAsTheSame(@ForAll @LongRange(min = 0, max = 9_223_372_036_854L) long millis) {
        Duration duration = Duration.ofMillis(millis);
        assertEquals(duration, Durations.parse(Durations.format(duration)));
    }

    @Property
    void anyTextIsReadOrRefusedWithAReason(@ForAll String text) {
        try {
            assertTrue(Durations.parse(text).toNanos() >= 0);
        } catch (IllegalArgumentException refusal) {
            assertTrue(refusal.getMessage().contains("; "), refusal.getMessage());
        }
    }

    @Test
    void theLargestExactUnitIsWritten() {
        assertEquals("0s", Durations.format(Duration.ZERO));
        assertEquals("250ms", Durations.format(Duration.ofMillis(250)));
        assertEquals("90s", Durations.format(Duration.ofSeconds(90)));
        assertEquals("2h", Durations.format(Duration.ofHours(2)));
        assertEquals("30d", Durations.format(Duration.ofDays(30)));
        assertEquals("1500.25ms", Durations.format(Duration.ofNanos(1_500_250_000)));
    }

    @Test
    void aRefusalSaysWhatWouldBeRight() {
        assertRefused("", "the duration is empty; write a whole number and a unit");
        assertRefused("10", "\"10\" has no unit; write 10s for seconds or 10ms");
        assertRefused("10 s", "\"10 s\" is not a duration; write 10s");
        assertRefused("10S", "\"10S\" is not a duration; write 10s");
        assertRefused("5 minutes", "\"5 minutes\" is not a duration; write 5m");
        assertRefused("-1", "\"-1\" is negative");
        assertRefused("-1s", "\"-1s\" is negative");
        assertRefused("1e9", "\"1e9\" is not a duration; write a whole number and a unit");
        assertRefused("1.5h", "\"1.5h\" is not a whole number; write 90m");
        assertRefused("0.4ms", "\"0.4ms\" is not a whole number; the smallest unit is 1ms");
        assertRefused("1h30m", "\"1h30m\" is not a duration");
        assertRefused("5M", "\"5M\" is not a duration; write a whole number and a unit");
        assertRefused("٥s", "is not a duration");
    }

    private static void assertRefused(String text, String expected) {
        String message = assertThrows(IllegalArgumentException.class, () -> Durations.parse(text))
                .getMessage();
        assertTrue(message.contains(expected), message);
    }
}
