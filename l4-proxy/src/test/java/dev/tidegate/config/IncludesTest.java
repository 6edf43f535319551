package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class IncludesTest {
    private static final String FRONTEND = "frontends: [{name: NAME, listen: \"127.0.0.1:0\", backend: web}]\n";
    private static final String BACKEND = "backends: [{name: web, endpoints: [{address: \"10.0.0.1:80\"}]}]\n";

    @TempDir
    private Path directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        Files.createDirectory(directory.resolve("conf.d"));
    }

    @Test
    void includedFilesAddTheirListsInTheOrderOfTheirNames() throws IOException {
        write("main.yaml", "include: conf.d/*.yaml\n" + FRONTEND.replace("NAME", "main"));
        write("conf.d/b.yaml", FRONTEND.replace("NAME", "b"));
        write("conf.d/a.yaml", FRONTEND.replace("NAME", "a") + BACKEND);
        write("conf.d/.a.yaml.swp.yaml", "junk");
        write("conf.d/a.txt", "junk");
        Config config = read().config().orElseThrow();
        assertEquals(
                List.of("main", "a", "b"),
                config.frontends().stream().map(FrontendConfig::name).toList());
    }

    @Test
    void aProblemNamesTheFileItIsIn() throws IOException {
        write("main.yaml", "include: conf.d/*.yaml\n" + FRONTEND.replace("NAME", "a") + BACKEND);
        write("conf.d/a.yaml", "process: {}\n" + FRONTEND.replace("NAME", "a"));
        write("conf.d/b.yaml", "frontends: [\n");
        write("conf.d/c.yaml", "log: {}\n");
        List<String> lines = lines();
        assertEquals(4, lines.size(), lines::toString);
        assertEquals(
                "conf.d/a.yaml:1:1: process: the key belongs in the main file, not in an included one; remove it",
                lines.get(0));
        assertEquals(
                "conf.d/a.yaml:2:20: frontends.a.name: frontend name \"a\" is already used at main.yaml:2; give each its"
                        + " own",
                lines.get(1));
        assertTrue(lines.get(2).startsWith("conf.d/b.yaml:2:1: this is not YAML: "), lines.get(2));
        assertTrue(lines.get(3).startsWith("conf.d/c.yaml:1:1: log: "), lines.get(3));
    }

    @Test
    void aFileIsReadOnceAndTheMainFileNeverAgain() throws IOException {
        write("main.yaml", "include: [\"*.yaml\", other.yaml]\n" + FRONTEND.replace("NAME", "a"));
        write("other.yaml", BACKEND);
        assertEquals(List.of(), lines());
    }

    @Test
    void aPatternWithoutAMatchIsAWarningAndAMissingFileAnError() throws IOException {
        write("main.yaml", "include: [\"conf.d/*.yaml\", none/*.yaml]\n" + FRONTEND.replace("NAME", "a") + BACKEND);
        assertEquals(
                List.of(
                        "main.yaml:1:11: include[0]: warning: \"conf.d/*.yaml\" matches no file; check the path; it is"
                                + " relative to this file",
                        "main.yaml:1:28: include[1]: warning: \"none/*.yaml\" matches no file; check the path; it is"
                                + " relative to this file"),
                lines());
        write("main.yaml", "include: [a.yaml, conf.d, \"*/a.yaml\", \"[a\"]\n" + FRONTEND.replace("NAME", "a"));
        List<String> lines = lines();
        assertEquals(4, lines.size(), lines::toString);
        assertEquals("main.yaml:1:11: include[0]: file \"a.yaml\" does not exist; check the path", lines.get(0));
        assertTrue(lines.get(1).contains("file \"conf.d\" cannot be read: it is a directory"), lines.get(1));
        assertTrue(lines.get(2).contains("\"*/a.yaml\" has a wildcard in a directory"), lines.get(2));
        assertTrue(lines.get(3).contains("\"[a\" is no pattern"), lines.get(3));
    }

    @Test
    void aMainFileThatCannotBeReadIsAProblemToo() {
        assertEquals(List.of("main.yaml:1:1: file \"main.yaml\" does not exist; check the path"), lines());
        ConfigResult result = ConfigReader.read(directory, ConfigText.NO_ENV);
        assertTrue(
                ConfigText.lines(result).get(0).contains("it is a directory"),
                () -> ConfigText.lines(result).toString());
    }

    /** It was opened, and waited for whoever might write to it: for good. */
    @Test
    @Timeout(20)
    void aPipeIsRefusedAndNotWaitedFor() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor(), "mkfifo");
        Path link = Files.createSymbolicLink(directory.resolve("link.yaml"), pipe);

        for (Path file : List.of(pipe, link)) {
            List<String> lines = ConfigText.lines(ConfigReader.readWithoutWaiting(file, ConfigText.NO_ENV));
            assertEquals(1, lines.size(), lines::toString);
            assertTrue(lines.get(0).contains("cannot be read: it is a pipe"), lines.get(0));
            assertTrue(ConfigSources.of(file, ConfigText.NO_ENV).isEmpty());
        }
        write("main.yaml", "include: [pipe]\n" + FRONTEND.replace("NAME", "a") + BACKEND);
        assertTrue(lines().get(0).contains("main.yaml:1:11: include[0]: file \"pipe\" cannot"), () -> lines().get(0));
    }

    @Test
    void aLinkToARegularFileIsReadAsThatFile() throws IOException {
        write("real.yaml", FRONTEND.replace("NAME", "a") + BACKEND);
        Path link = Files.createSymbolicLink(directory.resolve("link.yaml"), directory.resolve("real.yaml"));

        ConfigResult read = ConfigReader.readWithoutWaiting(link, ConfigText.NO_ENV);

        assertTrue(read.config().isPresent(), () -> ConfigText.lines(read).toString());
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    private ConfigResult read() {
        return ConfigReader.read(directory.resolve("main.yaml"), ConfigText.NO_ENV);
    }

    /** The problems, with file names as seen from the directory. */
    private List<String> lines() {
        return ConfigText.lines(read()).stream()
                .map(line -> line.replace(directory + "/", ""))
                .toList();
    }
}
