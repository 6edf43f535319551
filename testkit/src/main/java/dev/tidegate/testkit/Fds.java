package dev.tidegate.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Open file descriptors of a process ({@code /proc/PID/fd}).
 *
 * <pre>{@code
 * int before = Fds.count(pid);
 * }</pre>
 */
public final class Fds {
    /** Jars, libraries, its own images, sources of randomness: opened late and kept. */
    private static final Pattern JVM_FILES =
            Pattern.compile(".*\\.(jar|jmod|so|jsa|class)(\\.\\d+)?|.*/lib/modules|/dev/u?random|/proc/.*|/sys/.*");

    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)]");

    private Fds() {}

    /**
     * How many this process has open, without those that the JVM itself opens when it pleases: whether a jar was opened
     * before a test or is during it depends on which tests ran before in the same JVM.
     */
    public static int countInThisJvm() {
        return openInThisJvm().size();
    }

    /** The same, with number and target. */
    static Map<Integer, String> openInThisJvm() {
        Map<Integer, String> open = open(ProcessHandle.current().pid());
        open.values().removeIf(target -> JVM_FILES.matcher(target).matches());
        return open;
    }

    /** How many process {@code pid} has open. */
    public static int count(long pid) {
        return open(pid).size();
    }

    /**
     * Number and target of each open descriptor, such as {@code 12 → socket:[8312]}; without the one that this look needs.
     *
     * @throws UncheckedIOException when there is no such process or it may not be looked at
     */
    public static Map<Integer, String> open(long pid) {
        Path directory = Path.of("/proc", Long.toString(pid), "fd");
        String self = "/proc/" + pid + "/fd";
        Map<Integer, String> open = new TreeMap<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(directory)) {
            for (Path link : links) {
                target(link, self, open);
            }
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException("cannot list " + directory, e.getCause());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + directory, e);
        }
        return open;
    }

    /** Inodes of the sockets that process {@code pid} has open; none when it ends while it is looked at. */
    static Set<Long> socketInodes(long pid) {
        return openOrGone(pid).values().stream()
                .map(SOCKET::matcher)
                .filter(Matcher::matches)
                .map(matcher -> Long.valueOf(matcher.group(1)))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static Map<Integer, String> openOrGone(long pid) {
        try {
            return open(pid);
        } catch (UncheckedIOException unreadable) {
            if (ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()) {
                throw unreadable;
            }
            return Map.of();
        }
    }

    private static void target(Path link, String self, Map<Integer, String> into) throws IOException {
        try {
            String target = Files.readSymbolicLink(link).toString();
            if (!target.equals(self)) {
                into.put(Integer.valueOf(link.getFileName().toString()), target);
            }
        } catch (NoSuchFileException closedMeanwhile) {
            // The list is a moving picture: what was closed between the listing and the look is not open.
            into.remove(Integer.valueOf(link.getFileName().toString()));
        }
    }
}
