package dev.tidegate.config;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Finds the files that {@code include} names. Confined to the thread that reads. */
final class Includes {
    static final int FILES_MAX = 1_000;

    private static final Pattern WILD = Pattern.compile("[*?\\[\\]{}\\\\]");

    private final String main;
    private final Problems problems;
    private final Map<Path, Located<Path>> found = new LinkedHashMap<>();

    Includes(String main, Problems problems) {
        this.main = main;
        this.problems = problems;
    }

    /** The files in the order of reading, each once, the main file never; with the place that named them. */
    List<Located<Path>> find(List<Located<String>> globs) {
        for (Located<String> glob : globs) {
            try {
                match(glob);
            } catch (InvalidPathException | PatternSyntaxException e) {
                problems.error(
                        glob.mark(),
                        glob.path(),
                        Text.quote(glob.value()) + " is no pattern",
                        "write a file's path, as in conf.d/*.yaml");
            } catch (IOException | DirectoryIteratorException e) {
                problems.error(
                        glob.mark(),
                        glob.path(),
                        Text.quote(glob.value()) + " cannot be listed: " + e.getMessage(),
                        "check the directory");
            }
        }
        return List.copyOf(found.values());
    }

    private void match(Located<String> glob) throws IOException {
        Path pattern = Path.of(main).resolveSibling(glob.value());
        Path directory = pattern.getParent();
        Path last = pattern.getFileName();
        // The main file's own directory may be called anything; only what the key says is a pattern.
        Path said = Path.of(glob.value()).getParent();
        if (said != null && WILD.matcher(said.toString()).find()) {
            problems.error(
                    glob.mark(),
                    glob.path(),
                    Text.quote(glob.value()) + " has a wildcard in a directory",
                    "use it in the last part only, as in conf.d/*.yaml");
            return;
        }
        if (!WILD.matcher(last.toString()).find()) {
            add(pattern, glob);
            return;
        }
        List<Path> matches = list(directory == null ? Path.of("") : directory, last.toString());
        if (matches.isEmpty()) {
            problems.warning(
                    glob.mark(),
                    glob.path(),
                    Text.quote(glob.value()) + " matches no file",
                    "check the path; it is relative to this file");
        }
        for (Path match : matches) {
            add(match, glob);
        }
    }

    private static List<Path> list(Path directory, String glob) throws IOException {
        List<Path> matches = new ArrayList<>();
        if (!Files.isDirectory(directory)) {
            return matches;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, glob)) {
            for (Path entry : entries) {
                // Hidden files are editors' copies more often than anything meant; pipes and devices would block.
                if (!entry.getFileName().toString().startsWith(".") && Files.isRegularFile(entry)) {
                    matches.add(directory.resolve(entry.getFileName()));
                }
            }
        }
        matches.sort(null);
        return matches;
    }

    private void add(Path file, Located<String> glob) {
        Path identity = file.toAbsolutePath().normalize();
        if (identity.equals(Path.of(main).toAbsolutePath().normalize()) || found.containsKey(identity)) {
            return;
        }
        if (found.size() == FILES_MAX) {
            problems.error(
                    glob.mark(), glob.path(), "more than " + FILES_MAX + " files are included", "merge some of them");
        }
        if (found.size() < FILES_MAX) {
            found.put(identity, new Located<>(file, glob.mark(), glob.path()));
        }
    }
}
