package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What ending connections costs their clients, and what not ending them costs their endpoints. */
@Command(
        name = "bench/lifetime",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the same HTTP/1.1 keep-alive clients through each proxy before three endpoints, lets a fourth join, and"
                    + " prints how many requests failed and how far the fullest endpoint was above the mean, second after"
                    + " second.",
            "A request is failed when it was sent and its connection ended before the answer was whole."
        })
final class LifetimeComparison implements Callable<Integer> {
    private static final int ENDPOINTS = 4;
    private static final long SEED = 20_261_130;
    private static final long LEAST_ANSWER_MILLIS = 100;
    private static final long MOST_ANSWER_MILLIS = 900;
    private static final long THINK_MILLIS = 1_000;
    private static final double BALANCED = 0.05;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description = "some of tidegate, tidegate-cut, haproxy, nginx")
    private List<String> only;

    @Option(names = "--connections", defaultValue = "3000", description = "default ${DEFAULT-VALUE}")
    private int connections;

    @Option(names = "--lifetime", defaultValue = "15", description = "max-age in seconds; default ${DEFAULT-VALUE}")
    private int lifetimeSeconds;

    private final Path home;

    private LifetimeComparison(Path home) {
        this.home = home;
    }

    public static void main(String[] args) {
        LifetimeComparison comparison = new LifetimeComparison(Path.of(System.getProperty("tidegate.home", ".")));
        System.exit(new CommandLine(comparison)
                .setExecutionExceptionHandler((failure, line, parsed) -> {
                    if (failure instanceof IOException || failure instanceof IllegalArgumentException) {
                        line.getErr().println("bench/lifetime: " + failure.getMessage());
                        return 1;
                    }
                    throw failure;
                })
                .execute(args));
    }

    /**
     * What one proxy did.
     *
     * @param imbalance second by second from the join on: how far the fullest endpoint is above the mean
     */
    private record Result(LifetimeSubject.Kind kind, KeepAliveClients.Counts counts, List<Double> imbalance) {
        /** From which second on it stays balanced; -1: never. */
        int balancedAfterSeconds() {
            int from = imbalance.size();
            while (from > 0 && imbalance.get(from - 1) <= BALANCED) {
                from--;
            }
            return from == imbalance.size() ? -1 : from;
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<LifetimeSubject.Kind> kinds = kinds();
        List<String> missing = Tool.missing(Stream.of("haproxy", "nginx")
                .filter(tool -> kinds.stream().anyMatch(kind -> kind.word().equals(tool)))
                .toList());
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(
                    "not on the PATH: " + String.join(", ", missing) + "; install it, or leave it out with --only");
        }
        Path script = TidegateLauncher.in(home).script();
        Path directory = Files.createTempDirectory("tidegate-bench-");
        Children children = new Children();
        Thread hook = new Thread(
                () -> {
                    children.close();
                    Directories.delete(directory);
                },
                "stop");
        Runtime.getRuntime().addShutdownHook(hook);
        List<Result> results = new ArrayList<>();
        try (children) {
            for (LifetimeSubject.Kind kind : kinds) {
                results.add(run(kind, children, directory, script));
            }
        }
        print(results);
        return 0;
    }

    private List<LifetimeSubject.Kind> kinds() {
        List<LifetimeSubject.Kind> all = List.of(LifetimeSubject.Kind.values());
        if (only == null) {
            return all;
        }
        List<String> words = all.stream().map(LifetimeSubject.Kind::word).toList();
        for (String name : only) {
            if (!words.contains(name)) {
                throw new IllegalArgumentException(
                        "--only: \"" + name + "\" is not known; use some of " + String.join(", ", words));
            }
        }
        return all.stream().filter(kind -> only.contains(kind.word())).toList();
    }

    private Result run(LifetimeSubject.Kind kind, Children children, Path directory, Path script)
            throws IOException, InterruptedException {
        String lifetime = "max-age: " + lifetimeSeconds + "s, jitter: 20%, "
                + (kind == LifetimeSubject.Kind.TIDEGATE_CUT ? "grace: 0s" : "grace: 30s, quiet: 2s");
        try (SlowAnswers endpoints = SlowAnswers.start(ENDPOINTS, LEAST_ANSWER_MILLIS, MOST_ANSWER_MILLIS, SEED)) {
            LifetimeSubject subject =
                    LifetimeSubject.start(kind, children, directory, endpoints.addresses(), lifetime, script);
            // They come over two thirds of a lifetime, so that the lives that are under way at the join are of all
            // ages.
            long openingMillis = lifetimeSeconds * 2_000L / 3;
            try (KeepAliveClients clients =
                    KeepAliveClients.start(subject.address(), connections, openingMillis, THINK_MILLIS, SEED)) {
                long startNanos = System.nanoTime();
                parkUntil(startNanos + lifetimeSeconds * 1_000_000_000L);
                subject.join();
                int seconds = lifetimeSeconds + lifetimeSeconds / 2;
                List<Double> imbalance = new ArrayList<>();
                long joinedNanos = System.nanoTime();
                for (int i = 0; i <= seconds; i++) {
                    parkUntil(joinedNanos + i * 1_000_000_000L);
                    int[] now = endpoints.connections();
                    imbalance.add(Arrays.stream(now).max().orElseThrow()
                                    / Arrays.stream(now).average().orElseThrow()
                            - 1);
                    KeepAliveClients.Counts counts = clients.counts();
                    System.err.printf(
                            Locale.ROOT,
                            "%s, %d s after the join: %s, %d requests, %d failed%n",
                            kind.word(),
                            i,
                            Arrays.toString(now),
                            counts.answered() + counts.failed(),
                            counts.failed());
                }
                KeepAliveClients.Counts counts = clients.counts();
                if (!subject.process().isAlive()) {
                    throw new IOException(kind.word() + " has ended by itself");
                }
                return new Result(kind, counts, imbalance);
            } finally {
                children.stop(subject.process());
            }
        }
    }

    private static void parkUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private void print(List<Result> results) {
        int[] shown = {0, lifetimeSeconds / 3, lifetimeSeconds * 2 / 3, lifetimeSeconds, lifetimeSeconds * 3 / 2};
        StringBuilder out = new StringBuilder("| | requests | failed | ends: told, in silence |");
        for (int second : shown) {
            out.append(" %d s |".formatted(second));
        }
        out.append(" ≤ 5 % after |\n|---|---|---|---|")
                .append("---|".repeat(shown.length))
                .append("---|\n");
        for (Result result : results) {
            KeepAliveClients.Counts counts = result.counts();
            out.append(String.format(
                    Locale.ROOT,
                    "| %s | %,d | %,d | %,d, %,d |",
                    result.kind().title(),
                    counts.answered() + counts.failed(),
                    counts.failed(),
                    counts.told(),
                    counts.silent()));
            for (int second : shown) {
                out.append(String.format(
                        Locale.ROOT, " %.0f %% |", 100 * result.imbalance().get(second)));
            }
            int after = result.balancedAfterSeconds();
            out.append(after < 0 ? " never |\n" : " " + after + " s |\n");
            if (counts.refused() > 0) {
                System.err.println(
                        "bench/lifetime: " + result.kind().word() + ": " + counts.refused() + " connects failed");
            }
        }
        System.out.print(out);
    }
}
