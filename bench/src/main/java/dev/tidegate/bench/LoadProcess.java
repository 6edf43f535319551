package dev.tidegate.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A {@link LoadDriver} in a process of its own. */
final class LoadProcess {
    private final PrintStream commands;
    private final BufferedReader answers;
    private final InetSocketAddress backend;

    private LoadProcess(Process process) throws IOException {
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        backend = HostPort.parse(expect("ready"));
    }

    /** On one core; its backend listens on 127.0.0.1, or on every address of 127.0.0.0/8. */
    static LoadProcess start(Children children, int core, String java, boolean everywhere) throws IOException {
        List<String> pinned = List.of("taskset", "-c", Integer.toString(core));
        return start(children, pinned, java, everywhere ? List.of("0", LoadDriver.EVERYWHERE) : List.of());
    }

    /** Wherever the kernel has room for it. */
    static LoadProcess startUnpinned(Children children, String java) throws IOException {
        return start(children, List.of(), java, List.of());
    }

    private static LoadProcess start(Children children, List<String> before, String java, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                java,
                "-XX:+UseSerialGC",
                "-Xms256m",
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path"),
                LoadDriver.class.getName()));
        command.addAll(arguments);
        return new LoadProcess(
                children.start(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT)));
    }

    InetSocketAddress backend() {
        return backend;
    }

    /** Runs the load and waits for its end; throws when it could not be run at all. */
    LoadResult run(LoadSpec spec) throws IOException {
        return ask(spec.toLine());
    }

    LoadResult hold(InetSocketAddress target, int connections) throws IOException {
        return ask("hold target=" + HostPort.format(target) + " connections=" + connections);
    }

    /** What is held exchanges messages from now on; returns at once. */
    LoadResult busy() throws IOException {
        return ask("busy");
    }

    /** What is held falls silent; the result counts the messages since {@link #busy}. */
    LoadResult idle() throws IOException {
        return ask("idle");
    }

    LoadResult release() throws IOException {
        return ask("release");
    }

    private LoadResult ask(String command) throws IOException {
        commands.println(command);
        return LoadResult.parse(expect("ok"));
    }

    private String expect(String word) throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the load process has ended; what it said last is above");
        }
        if (!line.startsWith(word + " ")) {
            throw new IOException("the load process says: " + line);
        }
        return line.substring(word.length() + 1);
    }
}
