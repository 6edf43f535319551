package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Directories that a comparison has made. */
final class Directories {
    private Directories() {}

    /** Removes one with all that is in it; says so on stderr where it cannot. */
    static void delete(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            System.err.println("cannot remove " + directory + ": " + e.getMessage());
        }
    }
}
