package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What clients meet whose balancer has just started. */
@Command(
        name = "bench/cold-start",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts Tidegate again and again, with and without its warm-up, with and without an archive of loaded classes, in"
                    + " turns, and prints how long it takes to be ready and how the first connections fare.",
            "Every start is measured twice: once with 1,000 connections at 1,000 a second from the moment it is ready, once"
                    + " with as many connections as go, 32 at once, in the first second and after some seconds of the same."
        })
final class ColdStart implements Callable<Integer> {
    @Option(
            names = "--java",
            split = ",",
            paramLabel = "DIR",
            description = "Java homes; default: the one that this runs on")
    private List<Path> javas = List.of(Path.of(System.getProperty("java.home")));

    @Option(names = "--rounds", defaultValue = "5", description = "default ${DEFAULT-VALUE}")
    private int rounds;

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            description = "process.warm-up where there is one; default ${DEFAULT-VALUE}")
    private String warmUp = StartMeter.Setting.DEFAULT.warmUp();

    @Option(
            names = "--settle",
            paramLabel = "SECONDS",
            description = "of load before the steady rate is taken, over two seconds; default ${DEFAULT-VALUE}")
    private int settleSeconds = StartMeter.Setting.DEFAULT.settleSeconds();

    @Option(names = "--transport", description = "io_uring, epoll or nio; default ${DEFAULT-VALUE}")
    private String transport = StartMeter.Setting.DEFAULT.transport();

    private final Path home;

    private ColdStart(Path home) {
        this.home = home;
    }

    public static void main(String[] args) {
        ColdStart start = new ColdStart(Path.of(System.getProperty("tidegate.home", ".")));
        System.exit(new CommandLine(start)
                .setExecutionExceptionHandler((failure, line, parsed) -> {
                    if (failure instanceof IOException || failure instanceof IllegalArgumentException) {
                        line.getErr().println("bench/cold-start: " + failure.getMessage());
                        return 1;
                    }
                    throw failure;
                })
                .execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("tidegate-cold-start-");
        Children children = new Children();
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            children.close();
                            Directories.delete(directory);
                        },
                        "stop"));
        try (children) {
            LoadProcess load = LoadProcess.startUnpinned(
                    children,
                    Path.of(System.getProperty("java.home"), "bin", "java").toString());
            StartMeter meter = new StartMeter(
                    home, directory, children, load, new StartMeter.Setting(transport, warmUp, settleSeconds));
            System.out.print(new Report()
                    .environment(Map.of("method", rounds + " rounds, in turns; nothing is pinned"))
                    .starts(meter.measure(javas, rounds)));
        }
        return 0;
    }
}
