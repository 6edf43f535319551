package dev.tidegate.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    private static final Pattern BOUND = Pattern.compile("listening frontend=.* bound=\\S*:(\\d+)$");
    private static final Duration FIRST_SECOND = Duration.ofSeconds(1);
    private static final int WARM_LOAD_RUNS = 3;

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
            defaultValue = "1s",
            paramLabel = "TIME",
            description = "process.warm-up where there is one; default ${DEFAULT-VALUE}")
    private String warmUp;

    @Option(
            names = "--settle",
            defaultValue = "8",
            paramLabel = "SECONDS",
            description = "of load before the steady rate is taken, over two seconds; default ${DEFAULT-VALUE}")
    private int settleSeconds;

    @Option(
            names = "--transport",
            defaultValue = "auto",
            description = "io_uring, epoll or nio; default ${DEFAULT-VALUE}")
    private String transport;

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

    /** A way to start it. */
    private record Way(Path java, String version, boolean hasArchive, boolean warmsUp) {
        String title() {
            return "Java " + version + (hasArchive ? ", archive" : "") + (warmsUp ? ", warm-up" : "");
        }

        boolean isPlain() {
            return !hasArchive && !warmsUp;
        }
    }

    /**
     * What two starts in one way gave.
     *
     * @param readyMillis from exec to the line that says that it has started; the mean of the two
     * @param steadyPerSecond connections, once it is warm
     */
    private record Figures(
            double readyMillis, double p50Millis, double p99Millis, double firstPerSecond, double steadyPerSecond) {
        double share() {
            return firstPerSecond / steadyPerSecond;
        }
    }

    /** A balancer that has just said that it is ready. */
    private record Started(Process process, double readyMillis, InetSocketAddress address) {}

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
        Map<Way, List<Figures>> figures = new LinkedHashMap<>();
        try (children) {
            Path root = install(directory.resolve("root"));
            List<Way> ways = ways(root);
            LoadProcess load = LoadProcess.startUnpinned(
                    children,
                    Path.of(System.getProperty("java.home"), "bin", "java").toString());
            warm(load);
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < ways.size(); i++) {
                    Way way = ways.get((round + i) % ways.size());
                    Figures measured = measure(way, children, root, directory, load);
                    figures.computeIfAbsent(way, none -> new ArrayList<>()).add(measured);
                    System.err.printf(
                            Locale.ROOT,
                            "round %d, %s: ready %.0f ms, p99 %.1f ms, %.0f of %.0f connections/s%n",
                            round + 1,
                            way.title(),
                            measured.readyMillis(),
                            measured.p99Millis(),
                            measured.firstPerSecond(),
                            measured.steadyPerSecond());
                }
            }
            print(ways, figures);
        }
        return 0;
    }

    /** As a package has it: an archive holds for jars that stay where they are. */
    private Path install(Path root) throws IOException {
        Path lib = Files.createDirectories(root.resolve("lib"));
        Path launcher = Files.createDirectories(root.resolve("bin")).resolve("tidegate");
        for (Path jar : TidegateLauncher.in(home).classPath()) {
            Files.copy(jar, lib.resolve(jar.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
        }
        Files.copy(home.resolve("bin/tidegate"), launcher, StandardCopyOption.COPY_ATTRIBUTES);
        return root;
    }

    private List<Way> ways(Path root) throws IOException {
        List<Way> ways = new ArrayList<>();
        for (Path java : javas) {
            String version = version(java);
            System.err.print(Tool.output(home.resolve("packaging/train").toString(), root.toString(), java.toString()));
            for (boolean hasArchive : new boolean[] {false, true}) {
                for (boolean warmsUp : new boolean[] {false, true}) {
                    ways.add(new Way(java, version, hasArchive, warmsUp));
                }
            }
        }
        return ways;
    }

    private static String version(Path java) throws IOException {
        Matcher version =
                Pattern.compile("JAVA_VERSION=\"([^\"]+)\"").matcher(Files.readString(java.resolve("release")));
        if (!version.find()) {
            throw new IllegalArgumentException("--java: " + java + " has no JAVA_VERSION in its file release");
        }
        return version.group(1);
    }

    /** The load, straight to its own backend: what it has not done yet is slow as well. */
    private static void warm(LoadProcess load) throws IOException {
        for (int i = 0; i < WARM_LOAD_RUNS; i++) {
            run(load, LoadSpec.of(Scenario.CONNECT, load.backend(), Duration.ofSeconds(2)));
            run(load, arrivals(load.backend()));
        }
    }

    private static LoadSpec arrivals(InetSocketAddress target) {
        return LoadSpec.of(Scenario.ARRIVE, target, FIRST_SECOND).withSettle(Duration.ZERO);
    }

    private Figures measure(Way way, Children children, Path root, Path directory, LoadProcess load)
            throws IOException, InterruptedException {
        Started arriving = start(way, children, root, directory, load);
        LoadResult arrivals = run(load, arrivals(arriving.address()));
        children.stop(arriving.process());
        Started rushed = start(way, children, root, directory, load);
        LoadSpec rush = LoadSpec.of(Scenario.CONNECT, rushed.address(), FIRST_SECOND);
        LoadResult first = run(load, rush.withSettle(Duration.ZERO));
        LoadResult steady = run(
                load,
                LoadSpec.of(Scenario.CONNECT, rushed.address(), Duration.ofSeconds(2))
                        .withSettle(Duration.ofSeconds(settleSeconds)));
        children.stop(rushed.process());
        return new Figures(
                (arriving.readyMillis() + rushed.readyMillis()) / 2,
                arrivals.p50Nanos() / 1e6,
                arrivals.p99Nanos() / 1e6,
                first.perSecond(),
                steady.perSecond());
    }

    private static LoadResult run(LoadProcess load, LoadSpec spec) throws IOException {
        LoadResult result = load.run(spec);
        if (result.errors() > 0) {
            throw new IOException(
                    spec.scenario().word() + ": " + result.errors() + " errors, the first: " + result.firstError());
        }
        return result;
    }

    private Started start(Way way, Children children, Path root, Path directory, LoadProcess load) throws IOException {
        Path config = directory.resolve("tidegate.yaml");
        Files.writeString(config, """
                process: {transport: %s, warm-up: %s, shutdown: {deadline: 1s, spread: 0s}}
                admin: {listen: "unix:%s/admin.sock"}
                log: {access: {path: none}}
                frontends: [{name: bench, listen: "127.0.0.1:0", backend: bench}]
                backends: [{name: bench, endpoints: [{address: "%s"}]}]
                """.formatted(
                        transport, way.warmsUp() ? warmUp : "off", directory, HostPort.format(load.backend())));
        ProcessBuilder builder = new ProcessBuilder(
                        root.resolve("bin/tidegate").toString(), "run", "--config", config.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        Map<String, String> environment = builder.environment();
        environment.put("JAVA_HOME", way.java().toString());
        environment.put("STATE_DIRECTORY", directory.resolve("state").toString());
        environment.remove("CACHE_DIRECTORY");
        environment.put("TIDEGATE_ARCHIVE", way.hasArchive() ? "" : "off");
        long beginNanos = System.nanoTime();
        Process process = children.start(builder);
        // Not closed: it is the process's, and ends with it.
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        double readyMillis = -1;
        List<String> said = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            said.add(line);
            if (line.contains("started version=")) {
                readyMillis = (System.nanoTime() - beginNanos) / 1e6;
            }
            Matcher bound = BOUND.matcher(line);
            if (bound.find()) {
                int port = Integer.parseInt(bound.group(1));
                return new Started(process, readyMillis, HostPort.parse("127.0.0.1:" + port));
            }
        }
        throw new IOException(way.title() + " did not start:\n" + String.join("\n", said));
    }

    private void print(List<Way> ways, Map<Way, List<Figures>> figures) {
        StringBuilder out = new StringBuilder();
        out.append("least–median–greatest of ")
                .append(rounds)
                .append(" rounds; ratios within a round, to the first row of the" + " same Java\n\n");
        out.append(
                "| | ready, ms | ratio | p50 of the first 1,000, ms | p99, ms | ratio | first second, connections/s | of the"
                        + " steady rate |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
        Way plain = null;
        for (Way way : ways) {
            plain = way.isPlain() ? way : plain;
            List<Figures> mine = figures.get(way);
            List<Figures> base = figures.get(plain);
            out.append("| ").append(way.title());
            cell(out, spread(mine, Figures::readyMillis), 0);
            cell(out, ratio(mine, base, Figures::readyMillis), 2);
            cell(out, spread(mine, Figures::p50Millis), 2);
            cell(out, spread(mine, Figures::p99Millis), 1);
            cell(out, ratio(mine, base, Figures::p99Millis), 2);
            cell(out, spread(mine, Figures::firstPerSecond), 0);
            cell(out, spread(mine, Figures::share), 2);
            out.append(" |\n");
        }
        System.out.print(out);
    }

    private static void cell(StringBuilder out, Spread spread, int decimals) {
        out.append(" | ").append(spread.range(decimals));
    }

    private static Spread spread(List<Figures> figures, ToDoubleFunction<Figures> of) {
        return Spread.of(figures.stream().mapToDouble(of));
    }

    private static Spread ratio(List<Figures> mine, List<Figures> base, ToDoubleFunction<Figures> of) {
        double[] ratios = new double[mine.size()];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = of.applyAsDouble(mine.get(i)) / of.applyAsDouble(base.get(i));
        }
        return Spread.of(Arrays.stream(ratios));
    }
}
