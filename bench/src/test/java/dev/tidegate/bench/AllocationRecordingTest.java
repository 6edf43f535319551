package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
            AllocationRecording recording = AllocationRecording.start(Jcmd.beside(java), process.pid(), directory);
            allocate(lines, answers);
            allocate(lines, answers);
            double mib = recording.stop() / 1048576.0;

            assertTrue(mib >= 2 * MIB && mib < 2.25 * MIB, "MiB allocated: " + mib);
        } finally {
            process.destroyForcibly();
        }
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
