package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class MutatedConfigTest {
    private static final Path FULL = Path.of("..", "examples", "full.yaml");
    private static final long SEED = 20_260_729L;
    /** CPU of this thread, not time on the wall: the machine may be busy with something else. */
    private static final long CPU_MAX_NANOS = 200_000_000;

    private static final List<String> SPLINTERS = List.of(
            "[",
            "]",
            "{",
            "}",
            ":",
            ": ",
            "- ",
            "\n",
            "\t",
            "#",
            "'",
            "\"",
            "\\",
            "&a ",
            "*a",
            "!!int ",
            "!x ",
            "<<: ",
            "? ",
            "| ",
            "> ",
            "%YAML 1.2\n",
            "---\n",
            "...\n",
            "${",
            "}",
            "${HOME}",
            "${X:-1}",
            "null",
            "~",
            "-1",
            "1e9",
            "99999999999999999999",
            "0",
            "\u0000",
            "\u00e9",
            "\u2028",
            "\ufeff",
            "name: a\n",
            "\\u12",
            "\\U99999999",
            "off",
            "  ",
            "\r",
            "\r\n",
            "@",
            "`",
            "=",
            ",",
            "[::]:80",
            "0s");

    @Test
    @Tag("slow")
    void aMutantIsAConfigurationOrHasAProblemWithAPlace() throws IOException {
        mutate(300);
    }

    @Test
    @Tag("nightly")
    void eachOfTenThousandMutantsIsAConfigurationOrHasAProblemWithAPlace() throws IOException {
        mutate(10_000);
    }

    private static void mutate(int mutants) throws IOException {
        byte[] full = Files.readAllBytes(FULL);
        for (int i = 0; i < 50; i++) {
            assertEquals(List.of(), read(full).problems()); // warm: what is timed is the reader, not the compiler
        }
        Random random = new Random(SEED);
        int refused = 0;
        for (int i = 0; i < mutants; i++) {
            byte[] mutant = full;
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                mutant = mutate(mutant, random);
            }
            refused += check(mutant, i) ? 0 : 1;
        }
        // Neither all nor none: otherwise the mutants would show nothing.
        assertTrue(refused > mutants / 4 && refused < mutants, "refused: " + refused);
    }

    private static boolean check(byte[] mutant, int number) {
        String which = "mutant " + number + " of seed " + SEED;
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        ConfigResult result;
        try {
            result = read(mutant);
        } catch (RuntimeException | StackOverflowError e) {
            throw new AssertionError(which + ":\n" + new String(mutant, StandardCharsets.UTF_8), e);
        }
        long nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
        assertAll(
                which,
                () -> assertTrue(nanos < CPU_MAX_NANOS, "took " + nanos + " ns of CPU"),
                () -> assertFalse(result.config().isEmpty() && result.problems().isEmpty(), "neither"),
                () -> assertTrue(result.problems().stream().allMatch(each -> each.line() >= 1 && each.column() >= 1)),
                () -> assertTrue(ConfigText.lines(result).stream().noneMatch(line -> line.contains("\n"))));
        return result.config().isPresent();
    }

    private static ConfigResult read(byte[] text) {
        return ConfigReader.readText(FULL.toString(), text, ConfigText.NO_ENV);
    }

    private static byte[] mutate(byte[] text, Random random) {
        int at = random.nextInt(text.length + 1);
        int length = Math.min(text.length - at, 1 + random.nextInt(12));
        return switch (random.nextInt(7)) {
            case 0 -> splice(text, at, length, new byte[0]);
            case 1 -> splice(text, at, 0, splinter(random));
            case 2 -> splice(text, at, length, splinter(random));
            case 3 -> splice(text, at, Math.min(1, length), new byte[] {(byte) random.nextInt(256)});
            case 4 -> splice(text, at, text.length - at, new byte[0]);
            case 5 -> copyOfALine(text, random);
            default -> splice(text, at, Math.min(1, length), new byte[] {(byte) (' ' + random.nextInt(95))});
        };
    }

    private static byte[] splinter(Random random) {
        return SPLINTERS.get(random.nextInt(SPLINTERS.size())).getBytes(StandardCharsets.UTF_8);
    }

    /** A line of the text again, at another line's beginning. */
    private static byte[] copyOfALine(byte[] text, Random random) {
        String[] lines = new String(text, StandardCharsets.ISO_8859_1).split("(?<=\n)", -1);
        String line = lines[random.nextInt(lines.length)];
        int at = 0;
        for (int before = random.nextInt(lines.length); before > 0; before--) {
            at += lines[before - 1].length();
        }
        return splice(text, at, 0, line.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static byte[] splice(byte[] text, int at, int length, byte[] with) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(text.length + with.length);
        out.write(text, 0, at);
        out.write(with, 0, with.length);
        out.write(text, at + length, text.length - at - length);
        return out.toByteArray();
    }
}
