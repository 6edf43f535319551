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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Starts Tidegate again and again, in each way that there is to start it, and looks at how long that takes and how the first
 * connections fare. Nothing is pinned. Confined to the thread that compares.
 */
final class StartMeter {
    private static final Pattern BOUND = Pattern.compile("listening frontend=.* bound=\\S*:(\\d+)$");
    private static final Duration FIRST_SECOND = Duration.ofSeconds(1);
    private static final int WARM_LOAD_RUNS = 3;

    private final Path home;
    private final Path directory;
    private final Children children;
    private final LoadProcess load;
    private final Setting setting;

    /**
     * How what is started is configured, and looked at.
     *
     * @param transport in words of the configuration
     * @param warmUp {@code process.warm-up} where there is one
     * @param settleSeconds of load before the steady rate is taken, over two seconds
     */
    record Setting(String transport, String warmUp, int settleSeconds) {
        static final Setting DEFAULT = new Setting("auto", "1s", 8);
    }

    /** A way to start it. */
    record Way(Path java, String version, boolean hasArchive, boolean warmsUp) {
        String title() {
            return "Java " + version + (hasArchive ? ", archive" : "") + (warmsUp ? ", warm-up" : "");
        }

        /** The same Java without any help. */
        Way plain() {
            return new Way(java, version, false, false);
        }
    }

    /**
     * What two starts in one way gave.
     *
     * @param readyMillis from exec to the line that says that it has started; the mean of the two
     * @param steadyPerSecond connections, once it is warm
     */
    record Figures(
            double readyMillis, double p50Millis, double p99Millis, double firstPerSecond, double steadyPerSecond) {
        double share() {
            return firstPerSecond / steadyPerSecond;
        }
    }

    /** A balancer that has just said that it is ready. */
    private record Started(Process process, double readyMillis, InetSocketAddress address) {}

    /** @param directory what is written goes there, an installed package among it */
    StartMeter(Path home, Path directory, Children children, LoadProcess load, Setting setting) {
        this.home = home;
        this.directory = directory;
        this.children = children;
        this.load = load;
        this.setting = setting;
    }

    /** Every way with each of these Java homes, in turns, beginning one further each round; those of one Java together. */
    Map<Way, List<Figures>> measure(List<Path> javas, int rounds) throws IOException, InterruptedException {
        Path root = install(directory.resolve("root"));
        Map<Way, List<Figures>> figures = new LinkedHashMap<>();
        List<Way> ways = ways(root, javas);
        ways.forEach(way -> figures.put(way, new ArrayList<>()));
        warm();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < ways.size(); i++) {
                Way way = ways.get((round + i) % ways.size());
                Figures measured = measure(way, root);
                figures.get(way).add(measured);
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
        return figures;
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

    private List<Way> ways(Path root, List<Path> javas) throws IOException {
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
    private void warm() throws IOException {
        for (int i = 0; i < WARM_LOAD_RUNS; i++) {
            run(LoadSpec.of(Scenario.CONNECT, load.backend(), Duration.ofSeconds(2)));
            run(arrivals(load.backend()));
        }
    }

    private static LoadSpec arrivals(InetSocketAddress target) {
        return LoadSpec.of(Scenario.ARRIVE, target, FIRST_SECOND).withSettle(Duration.ZERO);
    }

    private Figures measure(Way way, Path root) throws IOException, InterruptedException {
        Started arriving = start(way, root);
        LoadResult arrivals = run(arrivals(arriving.address()));
        children.stop(arriving.process());
        Started rushed = start(way, root);
        LoadSpec rush = LoadSpec.of(Scenario.CONNECT, rushed.address(), FIRST_SECOND);
        LoadResult first = run(rush.withSettle(Duration.ZERO));
        LoadResult steady = run(LoadSpec.of(Scenario.CONNECT, rushed.address(), Duration.ofSeconds(2))
                .withSettle(Duration.ofSeconds(setting.settleSeconds())));
        children.stop(rushed.process());
        return new Figures(
                (arriving.readyMillis() + rushed.readyMillis()) / 2,
                arrivals.p50Nanos() / 1e6,
                arrivals.p99Nanos() / 1e6,
                first.perSecond(),
                steady.perSecond());
    }

    private LoadResult run(LoadSpec spec) throws IOException {
        LoadResult result = load.run(spec);
        if (result.errors() > 0) {
            throw new IOException(
                    spec.scenario().word() + ": " + result.errors() + " errors, the first: " + result.firstError());
        }
        return result;
    }

    private Started start(Way way, Path root) throws IOException {
        Path config = directory.resolve("tidegate.yaml");
        Files.writeString(config, """
                process: {transport: %s, warm-up: %s, shutdown: {deadline: 1s, spread: 0s}}
                admin: {listen: "unix:%s/admin.sock"}
                log: {access: {path: none}}
                frontends: [{name: bench, listen: "127.0.0.1:0", backend: bench}]
                backends: [{name: bench, endpoints: [{address: "%s"}]}]
                """.formatted(
                        setting.transport(),
                        way.warmsUp() ? setting.warmUp() : "off",
                        directory,
                        HostPort.format(load.backend())));
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
}
