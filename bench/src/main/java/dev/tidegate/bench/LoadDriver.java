package dev.tidegate.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The load and the backend as a process of their own, told what to do one line at a time.
 *
 * <p>It prints {@code ready HOST:PORT} with the backend's address, then for each line read one answer, {@code ok} with a
 * {@link LoadResult} or {@code error} with a sentence:
 *
 * <pre>
 * small   target=127.0.0.1:8080 connections=64 window-ms=4000 pid=4711
 * connect | bulk | upload | latency rate=20000    (the same keys)
 * hold    target=127.0.0.1:8080 connections=6000  (idle connections, on top of those already held)
 * busy                                           (what is held exchanges messages)
 * idle                                           (and does no longer)
 * release
 * </pre>
 *
 * It ends when its input does, so that it never outlives who started it.
 */
final class LoadDriver {
    /** Has the backend listen on every loopback address. */
    static final String EVERYWHERE = "everywhere";

    private static final String END = "";

    private LoadDriver() {}

    /** {@code [backend port] [everywhere]}; without a port, or with 0: any free one. */
    public static void main(String[] args) throws IOException {
        int backendPort = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        boolean everywhere = args.length > 1 && args[1].equals(EVERYWHERE);
        try (LoadLoop loop = everywhere ? LoadLoop.everywhere(backendPort) : new LoadLoop(backendPort)) {
            obey(loop, System.in, System.out);
        }
    }

    /** Carries out the lines of {@code commands} until they end. */
    static void obey(LoadLoop loop, InputStream commands, PrintStream answers) throws IOException {
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> readInto(lines, loop, commands), "commands");
        reader.setDaemon(true);
        reader.start();
        answers.println("ready " + HostPort.format(loop.backendAddress()));
        answers.flush();
        while (true) {
            // The backend goes on serving between two commands: what is held may be probed, what was left may end.
            loop.serveUntil(() -> !lines.isEmpty());
            String line = lines.remove();
            if (line.equals(END)) {
                return;
            }
            answers.println(answer(loop, line));
            answers.flush();
        }
    }

    private static String answer(LoadLoop loop, String line) {
        try {
            List<String> words = new ArrayList<>(List.of(line.strip().split(" +", -1)));
            LoadResult result =
                    switch (words.get(0)) {
                        case "release" -> loop.release();
                        case "busy" -> loop.busy();
                        case "idle" -> loop.idle();
                        case "hold" -> {
                            words.set(0, Scenario.SMALL.word());
                            yield loop.hold(LoadSpec.parse(words));
                        }
                        default -> loop.run(LoadSpec.parse(words));
                    };
            return "ok " + result.toLine();
        } catch (IllegalArgumentException | IOException e) {
            return "error " + e;
        }
    }

    private static void readInto(BlockingQueue<String> lines, LoadLoop loop, InputStream commands) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(commands, StandardCharsets.UTF_8))) {
            String line = reader.readLine();
            while (line != null) {
                if (!line.isBlank()) {
                    lines.add(line);
                    loop.wakeUp();
                }
                line = reader.readLine();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the commands cannot be read", e);
        } finally {
            lines.add(END);
            loop.wakeUp();
        }
    }
}
