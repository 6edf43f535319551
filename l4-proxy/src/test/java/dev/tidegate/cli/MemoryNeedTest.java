package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryNeedTest {
    private static final long MIB = 1024 * 1024;
    private static final MemoryNeed LAUNCHERS = new MemoryNeed(512 * MIB, 1024 * MIB);

    @Test
    void connectionsThatFitAreNoMatter() {
        assertEquals(List.of(), LAUNCHERS.complaints(32_768));
    }

    @Test
    void busyConnectionsBeyondDirectMemoryAreALineWithItsFigures() {
        List<String> lines = LAUNCHERS.complaints(65_536);
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(
                lines.get(0).contains("65536 need 2048 MiB of direct memory")
                        && lines.get(0).contains("there are 1024 MiB")
                        && lines.get(0).contains("-XX:MaxDirectMemorySize=2048m"),
                lines::toString);
    }

    @Test
    void connectionsBeyondTheHeapAreALineWithItsFigures() {
        String line =
                new MemoryNeed(512 * MIB, Long.MAX_VALUE).complaints(200_000).get(0);
        assertTrue(
                line.contains("200000 may need 1220 MiB of heap")
                        && line.contains("there are 512 MiB")
                        && line.contains("-Xmx1220m")
                        && line.contains("take 79189 at most"),
                line);
    }

    @Test
    void autoTakesNoMoreThanTheHeapCarries() {
        assertEquals(10_000, LAUNCHERS.carried(10_000));
        assertEquals(79_189, LAUNCHERS.carried(500_000));
        assertEquals(1, new MemoryNeed(16 * MIB, MIB).carried(500_000));
    }
}
