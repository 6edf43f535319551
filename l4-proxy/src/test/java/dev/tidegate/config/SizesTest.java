package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.BigRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

final class SizesTest {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
    private static final BigInteger MAX_BYTES = BigInteger.valueOf(Long.MAX_VALUE);

    @Property
    void aWholeNumberWithAUnitIsExactOrRefusedAndNeverWraps(
            @ForAll @BigRange(min = "0", max = "99999999999999999999999") BigInteger number,
            @ForAll @IntRange(max = 4) int unit) {
        String text = number + UNITS[unit];
        BigInteger bytes = number.multiply(BigInteger.valueOf(1_024).pow(unit));
        if (bytes.compareTo(MAX_BYTES) <= 0) {
            assertEquals(bytes.longValueExact(), Sizes.parse(text));
        } else {
            assertRefused(text, "is more than can be counted; write a smaller size");
        }
    }

    @Property
    void whatIsWrittenReadsBackAsTheSame(@ForAll @LongRange(min = 0) long bytes) {
        assertEquals(bytes, Sizes.parse(Sizes.format(bytes)));
    }

    @Property
    void anyTextIsReadOrRefusedWithAReason(@ForAll String text) {
        try {
            assertTrue(Sizes.parse(text) >= 0);
        } catch (IllegalArgumentException refusal) {
            assertTrue(refusal.getMessage().contains("; "), refusal.getMessage());
        }
    }

    @Test
    void theLargestExactUnitIsWritten() {
        assertEquals("0B", Sizes.format(0));
        assertEquals("1000B", Sizes.format(1_000));
        assertEquals("64KiB", Sizes.format(65_536));
        assertEquals("1025KiB", Sizes.format(1_049_600));
        assertEquals("100GiB", Sizes.format(100L << 30));
        assertEquals("1024TiB", Sizes.format(1L << 50));
    }

    @Test
    void aRefusalSaysWhatWouldBeRight() {
        assertRefused("", "the size is empty; write a whole number and a unit");
        assertRefused("10", "\"10\" has no unit; write 10B for bytes or 10MiB");
        assertRefused("10 MiB", "\"10 MiB\" is not a size; write 10MiB");
        assertRefused("10MB", "\"10MB\" is not a size; write 10MiB");
        assertRefused("10gib", "\"10gib\" is not a size; write 10GiB");
        assertRefused("10k", "\"10k\" is not a size; write 10KiB");
        assertRefused("5 bytes", "\"5 bytes\" is not a size; write 5B");
        assertRefused("-1GiB", "\"-1GiB\" is negative; write a whole number and a unit");
        assertRefused("1.5GiB", "\"1.5GiB\" is not a whole number; write 1536MiB");
        assertRefused("0.3B", "\"0.3B\" is not a whole number; write a whole number and a unit");
        assertRefused("1e9", "\"1e9\" is not a size; write a whole number and a unit");
        assertRefused("10PiB", "\"10PiB\" is not a size; write a whole number and a unit");
        assertRefused("٥B", "is not a size");
    }

    private static void assertRefused(String text, String expected) {
        String message = assertThrows(IllegalArgumentException.class, () -> Sizes.parse(text))
                .getMessage();
        assertTrue(message.contains(expected), message);
    }
}
