package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

// Cases after CVE-2022-1471 and CVE-2022-25857 of SnakeYAML, and its kin in other readers.
final class HostileYamlTest {
    /** CPU of this thread, not time on the wall: the machine may be busy with something else. */
    private static final long CPU_MAX_NANOS = 400_000_000;

    private static final int ROUNDS_WARM = 3;

    @BeforeAll
    static void warmUp() {
        for (int i = 0; i < ROUNDS_WARM; i++) {
            assertEquals(List.of(), ConfigText.valid().read().problems());
            hostile().forEach(each -> read((byte[]) each.get()[1]));
        }
    }

    static Stream<Arguments> hostile() {
        Map<String, byte[]> texts = new TreeMap<>();
        put(texts, "billion laughs", billionLaughs(), "more than 100000 values");
        put(texts, "doubling", doubling(), "more than 100000 values");
        put(texts, "many aliases", "a: &a 1\nb: [" + "*a,".repeat(51) + "]\n", "there are more than 50 aliases");
        put(texts, "self", "a: &a [*a]\n", "alias \"*a\" stands inside what it repeats");
        put(texts, "unknown alias", "a: *b\n", "alias \"*b\" has no anchor");
        put(texts, "many anchors", many(60, i -> "k" + i + ": &a" + i + " 1\n"), "more than 50 anchors");
        put(texts, "deep flow", "a: " + "[".repeat(10_000), "the nesting is deeper than 50");
        put(texts, "deepest flow", "[".repeat(1_000_000), "the nesting is deeper than 50");
        put(texts, "deep maps", "{a: ".repeat(10_000), "the nesting is deeper than 50");
        put(texts, "deep block", many(200, i -> " ".repeat(i) + "a:\n"), "the nesting is deeper than 50");
        put(texts, "deep dashes", "- ".repeat(10_000), "the nesting is deeper than 50");
        put(texts, "3 MB scalar", "a: " + "x".repeat(3_000_000), "larger than 1 MiB");
        put(texts, "1 MB scalar", "a: " + "x".repeat(1_000_000), "text of more than 4096 characters");
        put(texts, "1 MB key", "x".repeat(1_000_000) + ": 1", "more than 4096 characters");
        put(texts, "1 MB quoted", "a: \"" + "x".repeat(1_000_000), "this is not YAML");
        put(texts, "1 MB digits", "process: {workers: " + "9".repeat(4_000) + "}", "is out of range");
        put(texts, "many values", "a: [" + "1,".repeat(500_000) + "]", "more than 100000 values");
        put(texts, "many keys", many(60_000, i -> "key" + i + ": 1\n"), "more than 100000 values");
        put(texts, "many unknown", many(20_000, i -> "key" + i + ": 1\n"), "there are more than 1000 problems");
        put(texts, "many empty lines", "\n".repeat(1_000_000), "the file is empty");
        put(texts, "one long comment", "#" + "x".repeat(1_000_000), "the file is empty");
        put(texts, "tag of a class", "a: !!javax.script.ScriptEngineManager [x]\n", "tag \"tag:yaml.org,2002:javax");
        put(texts, "plain tag", "process: {workers: !!int 1}\n", "process.workers: tag \"tag:yaml.org,2002:int\"");
        put(texts, "local tag", "a: !x 1\n", "tag \"!x\" is not allowed");
        put(texts, "bang", "a: ! 1\n", "tag \"!\" is not allowed");
        put(texts, "merge key", "a: &a {b: 1}\nc: {<<: *a}\n", "t.yaml:2:5: c: merge keys (<<)");
        put(texts, "two documents", "a: 1\n---\nb: 1\n", "t.yaml:2:1: a second document begins here");
        put(texts, "nul", "a: \u0000\n", "t.yaml:1:4: control character U+0000");
        put(texts, "escape", "ab: 1\n\u001b[2J: 1\n", "t.yaml:2:1: control character U+001B");
        put(texts, "empty", "", "the file is empty");
        put(texts, "blank", " \n# nothing\n", "the file is empty");
        put(texts, "null", "~\n", "there is no value");
        put(texts, "list", "- a\n", "this is a list");
        put(texts, "word", "hello\n", "this is text");
        put(texts, "tab", "a:\n\tb: 1\n", "indent with spaces");
        put(texts, "complex key", "? [a]\n: 1\n", "a key is not a plain word");
        put(texts, "bare brackets", "a: [::]:80\n", "a value that begins with a bracket needs quotes");
        put(texts, "unclosed", "a: [1\n", "this is not YAML");
        put(texts, "bad escape", "a: \"\\U99999999\"\n", "this is not YAML");
        put(texts, "bad directive", "%YAML 9.9\n---\na: 1\n", "this is not YAML");
        put(texts, "long directive", "%YAML 1." + "9".repeat(10_000) + "\n---\na: 1\n", "this is not YAML");
        put(texts, "tag directive", "%TAG !e! tag:x,2000:\n---\na: !e!b 1\n", "is not allowed");
        texts.put(
                "latin-1|t.yaml:2:4: byte 0xe9 is not UTF-8",
                "a: 1\nb: \u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
        texts.put("utf-16|the file is UTF-16", "\ufeffa: 1\n".getBytes(StandardCharsets.UTF_16LE));
        texts.put("overlong|is not UTF-8", new byte[] {'a', ':', ' ', (byte) 0xc0, (byte) 0x80});
        texts.put("surrogate|is not UTF-8", new byte[] {'a', ':', ' ', (byte) 0xed, (byte) 0xa0, (byte) 0x80});
        texts.put("cut short|is not UTF-8", new byte[] {'a', ':', ' ', (byte) 0xe2, (byte) 0x82});
        return texts.entrySet().stream().map(each -> Arguments.of(each.getKey(), each.getValue()));
    }

    private static void put(Map<String, byte[]> texts, String name, String text, String expected) {
        texts.put(name + "|" + expected, text.getBytes(StandardCharsets.UTF_8));
    }

    private static String billionLaughs() {
        StringBuilder text = new StringBuilder("a0: &a0 [lol]\n");
        for (int i = 1; i < 10; i++) {
            text.append("a" + i + ": &a" + i + " [" + ("*a" + (i - 1) + ",").repeat(9) + "]\n");
        }
        return text.toString();
    }

    /** Few enough aliases for the count of them, and yet a million values. */
    private static String doubling() {
        StringBuilder text = new StringBuilder("a0: &a0 [lol]\n");
        for (int i = 1; i < 24; i++) {
            text.append("a" + i + ": &a" + i + " [*a" + (i - 1) + ", *a" + (i - 1) + "]\n");
        }
        return text.toString();
    }

    private static String many(int count, java.util.function.IntFunction<String> line) {
        return IntStream.range(0, count).mapToObj(line).collect(java.util.stream.Collectors.joining());
    }

    private static ConfigResult read(byte[] text) {
        return ConfigReader.readText("t.yaml", text, ConfigText.NO_ENV);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hostile")
    void aTextMadeToHurtIsRefusedFast(String nameAndExpected, byte[] text) {
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        ConfigResult result = read(text);
        long nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;

        String expected = nameAndExpected.substring(nameAndExpected.indexOf('|') + 1);
        List<String> lines = ConfigText.lines(result);
        assertTrue(result.config().isEmpty(), "accepted");
        assertTrue(
                lines.stream().anyMatch(line -> line.contains(expected)), () -> "no \"" + expected + "\" in " + lines);
        assertTrue(nanos < CPU_MAX_NANOS, () -> "took " + nanos / 1_000_000 + " ms of CPU");
    }

    @Test
    void aFewAliasesAreFine() {
        String yaml = """
                frontends:
                  - {name: a, listen: "127.0.0.1:1", backend: web, timeouts: &t {idle: 5m}}
                  - {name: b, listen: "127.0.0.1:2", backend: web, timeouts: *t}
                backends:
                  - {name: web, endpoints: [{address: "127.0.0.1:3"}]}
                """;
        Config config = ConfigText.read(yaml).config().orElseThrow();
        assertEquals(
                config.frontends().get(0).timeouts(), config.frontends().get(1).timeouts());
    }

    @Test
    void aByteOrderMarkAndAMarkedDocumentAreFine() {
        assertEquals(List.of(), ConfigText.lines(ConfigText.read("\ufeff---\n" + ConfigText.valid() + "\n...\n")));
    }
}
