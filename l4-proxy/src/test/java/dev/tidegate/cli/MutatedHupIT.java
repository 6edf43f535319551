package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.cli.AdminCurl.Answer;
import dev.tidegate.config.ConfigDocument;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Configuration files with slips in them, by HUP on {@code tidegate run}: each is rejected whole or in force whole. */
class MutatedHupIT {
    private static final long SEED = 20_261_129L;
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    private Answer inForce;
    private int applied;
    private int unchanged;
    private int rejected;

    @Test
    void aHundredMutantsByHup() throws Exception {
        hup(100);
    }

    @Test
    @Tag("nightly")
    void aThousandMutantsByHup() throws Exception {
        hup(1_000);
    }

    private void hup(int mutants) throws Exception {
        Random random = new Random(SEED + mutants);
        try (ScriptedBackend a = ScriptedBackend.echo();
                ScriptedBackend b = ScriptedBackend.echo()) {
            String good = """
                    admin: {listen: "unix:%s"}
                    log: {access: {path: none}}
                    frontends:
                      - {name: front, listen: "127.0.0.1:%d", backend: back, timeouts: {idle: 25m}}
                    backends:
                      - name: back
                        balance: round-robin
                        connect: {timeout: 2s, attempts: 3}
                        endpoints:
                          - {name: a, address: "%s", weight: 12}
                          - {name: b, address: "%s", weight: 0, max-connections: 400}
                    """.formatted(directory.resolve("admin.sock"), FreePort.pick(), a.hostPort(), b.hostPort());
            AdminCurl curl = new AdminCurl(directory.resolve("admin.sock"));
            try (TidegateProcess tidegate = TidegateProcess.run(directory, good).start()) {
                try (ScriptedClient client = tidegate.connect()) {
                    inForce = curl.get("/v1/config").expect(200);
                    for (int i = 0; i < mutants; i++) {
                        String which = "mutant " + i + " of seed " + (SEED + mutants);
                        check(tidegate, curl, mutate(good, random), which);
                        // Each time: one whose endpoint a mutant takes away may leave when it falls silent.
                        client.send("ping");
                        assertEquals("ping", client.readText(4), () -> "a connection from before the first, " + which);
                    }
                }
                JsonNode reloads = curl.look("/v1/status").get("reloads");
                System.out.println(mutants + " mutants by HUP: " + applied + " applied, " + unchanged + " unchanged, "
                        + rejected + " rejected");
                assertEquals(applied, reloads.get("applied").asInt());
                assertEquals(rejected, reloads.get("rejected").asInt());
                // Neither all nor none: otherwise the mutants would show nothing.
                assertTrue(applied > mutants / 20 && rejected > mutants / 20, reloads::toString);
                tidegate.signal("TERM");
                assertEquals(0, tidegate.awaitExit());
            }
        }
    }

    /** After a HUP the document is the mutant's when that one is valid, and otherwise the one from before. */
    private void check(TidegateProcess tidegate, AdminCurl curl, String mutant, String which) throws IOException {
        Answer before = inForce;
        int told = tidegate.err().size();
        replaceFile(mutant);
        tidegate.signal("HUP");
        String outcome = awaitOutcome(tidegate, told, which);

        inForce = curl.get("/v1/config").expect(200);
        if (outcome.contains("reload rejected")) {
            rejected++;
            assertEquals(before.json(), inForce.json(), which);
            assertEquals(generation(before), generation(inForce), which);
            return;
        }
        JsonNode wanted = document(mutant, which);
        for (String part : List.of("frontends", "backends")) {
            assertEquals(wanted.get(part), inForce.json().get(part), which);
        }
        boolean changed = outcome.contains("reload applied");
        applied += changed ? 1 : 0;
        unchanged += changed ? 0 : 1;
        assertEquals(generation(before) + (changed ? 1 : 0), generation(inForce), which);
    }

    private static long generation(Answer config) {
        return Long.parseLong(config.headers().get("etag").replace("\"", ""));
    }

    private static String awaitOutcome(TidegateProcess tidegate, int told, String which) {
        String[] found = new String[1];
        Await.until("the reload of " + which + " is told of", BOUND, () -> {
            assertTrue(tidegate.isAlive(), () -> which + " ended the process: " + tidegate.err());
            List<String> lines = tidegate.err();
            found[0] = lines.subList(told, lines.size()).stream()
                    .filter(line -> line.contains("reload applied")
                            || line.contains("reload rejected")
                            || line.contains("reload: nothing to change"))
                    .findFirst()
                    .orElse(null);
            return found[0] != null;
        });
        return found[0];
    }

    private void replaceFile(String text) throws IOException {
        Path next = directory.resolve("next.yaml");
        Files.writeString(next, text);
        Files.move(
                next,
                directory.resolve("tidegate.yaml"),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** What {@code /v1/config} tells of a valid file in force. */
    private JsonNode document(String text, String which) {
        ConfigResult read = ConfigReader.read(directory.resolve("tidegate.yaml"), System::getenv);
        try {
            return JSON.readTree(JSON.writeValueAsString(ConfigDocument.of(read.config()
                    .orElseThrow(() -> new AssertionError(
                            which + " is in force and has problems: " + read.problems() + "\n" + text)))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A slip of the pen: a digit or letter changed, something left out or written twice, a line moved, the end torn off. */
    private static String mutate(String text, Random random) {
        StringBuilder mutant = new StringBuilder(text);
        int at = random.nextInt(text.length());
        switch (random.nextInt(6)) {
            case 0 -> mutant.setCharAt(at, (char) ('0' + random.nextInt(10)));
            case 1 -> mutant.deleteCharAt(at);
            case 2 -> mutant.insert(at, text.charAt(random.nextInt(text.length())));
            case 3 -> digit(mutant, random);
            case 4 -> mutant.setLength(at);
            default -> {
                List<String> lines = Stream.of(text.split("(?<=\n)", -1)).toList();
                mutant.insert(at, lines.get(random.nextInt(lines.size())));
            }
        }
        return mutant.toString();
    }

    private static void digit(StringBuilder mutant, Random random) {
        int at = random.nextInt(mutant.length());
        while (!Character.isDigit(mutant.charAt(at))) {
            at = (at + 1) % mutant.length();
        }
        mutant.setCharAt(at, (char) ('0' + random.nextInt(10)));
    }
}
