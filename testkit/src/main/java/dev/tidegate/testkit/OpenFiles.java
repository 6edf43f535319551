package dev.tidegate.testkit;

import java.io.IOException;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The descriptors that this JVM had open at a moment, without those that the JVM itself opens when it pleases. */
final class OpenFiles {
    static final OpenFiles NONE = new OpenFiles(Map.of());

    private final Map<Integer, String> before;

    private OpenFiles(Map<Integer, String> before) {
        this.before = before;
    }

    static OpenFiles now() throws IOException, InterruptedException {
        WarmUp.once();
        return new OpenFiles(Fds.openInThisJvm());
    }

    /** Waits up to {@code bound} until at most {@code tolerance} more are open than at that moment; else tells which. */
    Optional<String> leftOver(Duration bound, int tolerance) {
        if (Await.tryUntil(bound, () -> Fds.openInThisJvm().size() <= before.size() + tolerance)) {
            return Optional.empty();
        }
        Map<Integer, String> now = Fds.openInThisJvm();
        String more = now.entrySet().stream()
                .filter(fd -> !fd.getValue().equals(before.get(fd.getKey())))
                .map(fd -> fd.getKey() + " " + fd.getValue() + connectionOf(fd.getValue()))
                .collect(Collectors.joining(", "));
        return Optional.of("file descriptors: " + before.size() + " before, " + now.size() + " after (tolerance "
                + tolerance + "); new: " + more);
    }

    /** Between which ports it is, as that tells which part of a test left it; of another socket, its line in the kernel's table. */
    private static String connectionOf(String target) {
        return Sockets.all().stream()
                .filter(entry -> target.equals("socket:[" + entry.inode() + "]"))
                .findFirst()
                .map(entry -> " (" + entry.state() + " " + entry.local() + " to " + entry.remote() + ")")
                .orElseGet(() -> lineOf(target));
    }

    private static String lineOf(String target) {
        String inode = target.replaceAll("^socket:\\[|]$", "");
        for (String table : List.of("unix", "udp", "udp6")) {
            try (Stream<String> lines = Files.lines(Path.of("/proc/net", table))) {
                Optional<String> line = lines.filter(each ->
                                Arrays.asList(each.strip().split("\\s+")).contains(inode))
                        .findFirst();
                if (line.isPresent()) {
                    return " (" + table + ": " + line.get().strip() + ")";
                }
            } catch (IOException e) {
                return " (/proc/net/" + table + ": " + e.getMessage() + ")";
            }
        }
        return "";
    }

    /** Has the JDK open what it keeps for good (the marker socket of its closed channels) before anything is counted. */
    private static final class WarmUp {
        private static boolean done;

        static synchronized void once() throws IOException, InterruptedException {
            if (done) {
                return;
            }
            done = true;
            try (ScriptedBackend backend = ScriptedBackend.start(Scripts.silent());
                    Selector selector = Selector.open();
                    ScriptedClient client = ScriptedClient.connect(backend.address())) {
                selector.selectNow();
                client.send("x");
                backend.awaitConnections(1);
            }
            new ProcessBuilder("true").start().waitFor();
        }
    }
}
