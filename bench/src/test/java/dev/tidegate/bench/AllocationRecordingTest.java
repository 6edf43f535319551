package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.bench.AllocationRecording.Count;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocationRecordingTest {
    /** What {@link Allocating} makes for each line, so much that nothing else that its JVM does is seen beside it. */
    private static final int MIB = 64;

    @TempDir
    private Path directory;

    @Test
    @Tag("slow")
    void whatAJvmAllocatesFromTheBeginOfARecordingToItsEndIsCounted() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        java, "-cp", System.getProperty("java.class.path"), Allocating.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (PrintStream lines = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
                BufferedReader answers =
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            allocate(lines, answers);
            double mib = AllocationRecording.during(Jcmd.beside(java), process.pid(), directory, () -> {
                                allocate(lines, answers);
                                allocate(lines, answers);
                                return null;
                            })
                            .bytes()
                    / 1048576.0;

            assertTrue(mib >= 2 * MIB && mib < 2.25 * MIB, "MiB allocated: " + mib);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Some end meanwhile and some begin; and there may be no end to count to. */
    @Test
    void threadsThatAreCountedAtMomentsOfTheirOwnAreCountedFromTheBeginToTheEnd() {
        List<Count> counts = List.of(
                count(1, 0, 100),
                count(2, 40, 7),
                count(3, 41, 5),
                count(1, 1_000, 164),
                count(2, 1_030, 7),
                count(4, 1_031, 8));

        assertEquals(OptionalLong.of(64 + 8), AllocationRecording.between(counts));
        assertEquals(OptionalLong.empty(), AllocationRecording.between(counts.subList(0, 1)));
        assertEquals(OptionalLong.empty(), AllocationRecording.between(List.of()));
        assertEquals(OptionalLong.empty(), AllocationRecording.between(List.of(count(1, 0, 100), count(1, 9, 100))));
    }

    private static Count count(long thread, long millis, long bytes) {
        return new Count(thread, Instant.ofEpochMilli(millis), bytes);
    }

    private static void allocate(PrintStream lines, BufferedReader answers) throws IOException {
        lines.println("allocate");
        assertEquals(Integer.toString(MIB), answers.readLine());
    }

    /** Allocates for each line that it reads, and says how many MiB. */
    static final class Allocating {
        private Allocating() {}

        public static void main(String[] args) throws IOException {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            while (lines.readLine() != null) {
                byte[][] made = new byte[MIB][];
                for (int i = 0; i < MIB; i++) {
                    made[i] = new byte[1 << 20];
                }
                System.out.println(made.length);
            }
        }
    }
}
