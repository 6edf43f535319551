package dev.tidegate.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.tidegate.bench.chart.BarChart;
import dev.tidegate.bench.chart.LineChart;
import dev.tidegate.bench.chart.Series;
import io.netty.util.Version;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Puts Tidegate beside other proxies: the same load, the same core, in turns, round after round. */
@Command(
        name = "bench/compare",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the same load through Tidegate, a bare Netty forwarder, HAProxy and nginx, in turns, and prints the CPU"
                    + " that each takes for it, as ratios to HAProxy of the same round (least, median, greatest).",
            "The proxies are pinned to one core, load and backend to another.",
            "Memory, growth, calls and cold start are measured instead of the scenarios, several of them one after another."
        })
final class Compare implements Callable<Integer> {
    /** What {@code --scenarios all} means. */
    private static final List<String> ALL = List.of(
            "small",
            "connect",
            "bulk@1",
            "bulk@8",
            "bulk@64",
            "upload@1",
            "upload@8",
            "upload@64",
            "burst",
            "latency@20",
            "latency@50",
            "latency@70",
            "mixed@20");

    /** For the help. */
    private static final class SubjectNames implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return SubjectStarter.names().iterator();
        }
    }

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description =
                    "what to compare, some of ${COMPLETION-CANDIDATES}; default: all that there is here, but for those that"
                            + " end in -multishot and -tcp",
            completionCandidates = SubjectNames.class)
    private List<String> only;

    @Option(
            names = "--scenarios",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "small,connect,bulk,latency",
            description =
                    "some of small, http1, connect, burst, bulk, upload, latency, mixed, or all; @NUMBER behind one is"
                            + " how many connections (bulk@64), behind latency and mixed the percentage of what the slowest row"
                            + " can do; default ${DEFAULT-VALUE}")
    private List<String> trialWords;

    @Option(names = "--rounds", defaultValue = "5", description = "default ${DEFAULT-VALUE}")
    private int rounds;

    @Option(
            names = "--seconds",
            defaultValue = "4",
            description = "measured window of each scenario of each round; default ${DEFAULT-VALUE}")
    private int seconds;

    @Option(
            names = "--warmup",
            defaultValue = "30",
            description = "seconds of load for each JVM before the first round, in all; default ${DEFAULT-VALUE}")
    private int warmupSeconds;

    @Option(
            names = "--everything",
            description =
                    "--scenarios all, and --memory, --calls, --cold-start and --grow with all that there is to grow, one"
                            + " after another, in two to three hours")
    private boolean everything;

    @Option(names = "--memory", description = "measure memory for each connection instead, idle and busy")
    private boolean memory;

    @Option(names = "--memory-from", defaultValue = "1000", description = "default ${DEFAULT-VALUE} connections")
    private int memoryFrom;

    @Option(names = "--memory-to", defaultValue = "6000", description = "default ${DEFAULT-VALUE} connections")
    private int memoryTo;

    @Option(
            names = "--grow",
            split = ",",
            paramLabel = "WHAT",
            description = "measure how cost grows instead: with connections, endpoints or workers")
    private List<String> grow = List.of();

    @Option(
            names = "--calls",
            description =
                    "count the kernel's calls for each connection instead, and what a JVM allocates on its heap for it;"
                            + " needs strace")
    private boolean calls;

    @Option(
            names = "--cold-start",
            description =
                    "measure how Tidegate starts instead, with and without warm-up and archive, as bench/cold-start does")
    private boolean coldStart;

    @Option(names = "--charts", paramLabel = "DIRECTORY", description = "draw the ratios, or the growth, there too")
    private Path charts;

    @Option(names = "--proxy-core", defaultValue = "0", description = "default ${DEFAULT-VALUE}")
    private int proxyCore;

    @Option(names = "--load-core", defaultValue = "1", description = "default ${DEFAULT-VALUE}")
    private int loadCore;

    @Option(names = "--json", paramLabel = "FILE", description = "write every single result there too")
    private Path json;

    private final String commandLine;
    private final Path home;
    private final List<String> problems = new ArrayList<>();
    private final Map<String, String> facts = new LinkedHashMap<>();

    Compare(Path home, String commandLine) {
        this.home = home;
        this.commandLine = commandLine;
    }

    public static void main(String[] args) {
        // Warnings to stderr, and stdout to the report.
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        Path home = Path.of(System.getProperty("tidegate.home", "."));
        Compare compare = new Compare(home, "bench/compare " + String.join(" ", args));
        System.exit(new CommandLine(compare)
                .setExecutionExceptionHandler((failure, line, parsed) -> {
                    if (failure instanceof IOException || failure instanceof IllegalArgumentException) {
                        line.getErr().println("bench/compare: " + failure.getMessage());
                        return 1;
                    }
                    throw failure;
                })
                .execute(args));
    }

    /** One of the things that this measures. */
    private interface Part {
        void measure(Stage stage, Report report, Map<String, Object> raw) throws IOException, InterruptedException;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<String> names = names();
        List<Part> parts = parts(names);
        checkMachine(names);
        TidegateLauncher launcher = TidegateLauncher.in(home);
        Path directory = Files.createTempDirectory("tidegate-bench-");
        Children children = new Children();
        // Runs on ctrl-C and TERM; after a normal end no process is left for it.
        Thread hook = new Thread(
                () -> {
                    children.close();
                    Directories.delete(directory);
                },
                "stop");
        Runtime.getRuntime().addShutdownHook(hook);
        try (children) {
            learnFacts(names, launcher);
            Report report = new Report().environment(facts);
            Map<String, Object> raw = new LinkedHashMap<>(Map.of("environment", facts));
            Stage stage = new Stage(children, directory, launcher, proxyCore, loadCore);
            for (Part part : parts) {
                try {
                    part.measure(stage, report, raw);
                } catch (IOException e) {
                    problems.add(e.getMessage()); // what the other parts tell is not lost for it
                }
                children.stopAll();
            }
            raw.put("problems", problems);
            System.out.print(report);
            if (json != null) {
                new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(json.toFile(), raw);
            }
        }
        problems.forEach(problem -> System.err.println("bench/compare: " + problem));
        return problems.isEmpty() ? 0 : 1;
    }

    private List<Part> parts(List<String> names) {
        List<String> proxies =
                names.stream().filter(name -> !name.equals(Subject.DIRECT)).toList();
        List<String> growing =
                proxies.stream().filter(name -> !NettySubject.isBare(name)).toList();
        List<Growth> growths = everything
                ? List.of(Growth.values())
                : grow.stream().map(Growth::named).toList();
        List<Part> parts = new ArrayList<>();
        if (comparesScenarios()) {
            List<Trial> trials = trials();
            parts.add((stage, report, raw) -> scenarios(names, trials, stage, report, raw));
        }
        for (Growth growth : growths) {
            parts.add((stage, report, raw) -> grow(growth, growing, stage, report, raw));
        }
        if (memory || everything) {
            parts.add((stage, report, raw) -> memory(proxies, stage, report, raw));
        }
        if (calls || everything) {
            parts.add((stage, report, raw) -> calls(proxies, stage, report, raw));
        }
        if (coldStart || everything) {
            parts.add(this::coldStart);
        }
        return parts;
    }

    private boolean comparesScenarios() {
        return everything || !(memory || calls || coldStart || !grow.isEmpty());
    }

    // ---- CPU and latency

    private List<Trial> trials() {
        List<String> words = everything || trialWords.equals(List.of("all")) ? ALL : trialWords;
        return words.stream().map(Trial::named).distinct().toList();
    }

    private void scenarios(List<String> names, List<Trial> trials, Stage stage, Report report, Map<String, Object> raw)
            throws IOException, InterruptedException {
        LoadProcess load = stage.startLoad(false);
        SubjectStarter starter = stage.starter(load, 0);
        List<Subject> subjects = new ArrayList<>();
        for (String name : names) {
            subjects.add(starter.start(name));
        }
        Rounds turns = new Rounds(load, subjects, trials, problems);
        turns.warm(warmupSeconds);
        turns.findKnee();
        turns.run(rounds, Duration.ofSeconds(seconds));
        Measurements measured = turns.measured();
        report.targets(trials, measured);
        for (Trial trial : trials) {
            if (trial.scenario().paced()) {
                String rate = String.format(
                        Locale.ROOT,
                        "%,d a second (%d %% of what the slowest does in a closed loop), open loop",
                        turns.rate(trial),
                        trial.share());
                report.latency(trial, names, measured, Subject.HAPROXY, rate);
            } else if (trial.scenario().arrives()) {
                report.latency(trial, names, measured, Subject.HAPROXY, "from the moment to the answer");
            } else {
                report.cost(trial, names, measured, Subject.HAPROXY);
            }
        }
        raw.put("results", rawResults(names, trials, measured));
        if (charts != null) {
            drawRatios(names, trials, measured);
        }
    }

    private void drawRatios(List<String> names, List<Trial> trials, Measurements measured) throws IOException {
        BarChart cost = new BarChart("CPU, as a ratio to " + Subject.HAPROXY + " (least–median–greatest)");
        BarChart latency =
                new BarChart("p99 of latency, as a ratio to " + Subject.HAPROXY + " (least–median–greatest)");
        for (Trial trial : trials) {
            boolean timed = trial.scenario().paced() || trial.scenario().arrives();
            for (String name : names) {
                Spread ratio = measured.ratio(
                        trial,
                        name,
                        Subject.HAPROXY,
                        timed
                                ? LoadResult::p99Nanos
                                : result -> result.cpuMicrosPer(trial.scenario().perUnit()));
                if (ratio.isKnown() && !name.equals(Subject.HAPROXY) && !name.equals(Subject.DIRECT)) {
                    (timed ? latency : cost)
                            .bar(
                                    trial.word(),
                                    name,
                                    NettySubject.isTidegate(name),
                                    ratio.min(),
                                    ratio.median(),
                                    ratio.max());
                }
            }
        }
        Files.createDirectories(charts);
        Files.writeString(charts.resolve("compare-cpu.svg"), cost.svg());
        Files.writeString(charts.resolve("compare-latency.svg"), latency.svg());
    }

    private static Map<String, Map<String, List<LoadResult>>> rawResults(
            List<String> names, List<Trial> trials, Measurements measured) {
        Map<String, Map<String, List<LoadResult>>> results = new LinkedHashMap<>();
        trials.forEach(trial -> results.put(trial.word(), measured.rounds(trial, names)));
        return results;
    }

    // ---- growth

    private void grow(Growth growth, List<String> names, Stage stage, Report report, Map<String, Object> raw)
            throws IOException, InterruptedException {
        Growth.Grown grown = growth.measure(names, stage, warmupSeconds, rounds, Duration.ofSeconds(seconds), problems);
        report.growth(grown, names);
        raw.put("growth-" + growth.word(), grown.rounds(names));
        if (charts != null) {
            drawGrowth(grown, names);
        }
    }

    private void drawGrowth(Growth.Grown grown, List<String> names) throws IOException {
        Growth growth = grown.growth();
        LineChart chart = new LineChart(growth.title(), growth.word(), "CPU µs per " + growth.unit()).logarithmic();
        for (String name : names) {
            chart.line(
                    name,
                    Series.of(growth.sizes().stream().map(Integer::doubleValue).toList()),
                    Series.of(growth.sizes().stream()
                            .map(size -> grown.cost(name, size).median())
                            .toList()));
        }
        Files.createDirectories(charts);
        Files.writeString(charts.resolve("growth-" + growth.word() + ".svg"), chart.svg());
    }

    // ---- memory

    private void memory(List<String> names, Stage stage, Report report, Map<String, Object> raw)
            throws IOException, InterruptedException {
        LoadProcess load = stage.startLoad(false);
        SubjectStarter starter = stage.starter(load, memoryTo);
        MemoryMeter meter = new MemoryMeter(load, stage.jcmd(), problems);
        List<MemorySlope> idle = new ArrayList<>();
        List<MemorySlope> busy = new ArrayList<>();
        for (String name : names) {
            // One at a time and freshly started: what an earlier load left behind would hide what a connection takes.
            Subject subject = starter.start(name);
            idle.add(meter.measureIdle(subject, memoryFrom, memoryTo));
            stage.children().stop(subject.process());
            Subject again = starter.start(name);
            busy.add(meter.measureBusy(again, memoryFrom, memoryTo));
            stage.children().stop(again.process());
        }
        raw.put("memory", Map.of("idle", idle, "busy", busy));
        report.memory("idle proxied connection", idle, Subject.HAPROXY);
        report.memory("busy proxied connection, 64 bytes there and back on all at once", busy, Subject.HAPROXY);
    }

    // ---- calls of the kernel, and allocation

    private void calls(List<String> names, Stage stage, Report report, Map<String, Object> raw)
            throws IOException, InterruptedException {
        LoadProcess load = stage.startLoad(false);
        SubjectStarter starter = stage.starter(load, 0);
        CallMeter callMeter = new CallMeter(load, stage.children(), stage.directory(), problems);
        AllocationMeter allocationMeter = new AllocationMeter(load, stage.jcmd(), stage.directory(), problems);
        List<CallMeter.Calls> counted = new ArrayList<>();
        List<AllocationMeter.Allocated> allocated = new ArrayList<>();
        for (String name : names) {
            Subject subject = starter.start(name);
            counted.add(callMeter.measure(subject));
            if (subject.isJvm()) {
                new Rounds(load, List.of(subject), List.of(Trial.named("small"), Trial.named("connect")), problems)
                        .warm(warmupSeconds);
                allocated.add(allocationMeter.measure(subject));
            }
            stage.children().stop(subject.process());
        }
        raw.put("calls", counted);
        raw.put("allocation", allocated);
        report.calls(counted).allocation(allocated);
    }

    // ---- start

    private void coldStart(Stage stage, Report report, Map<String, Object> raw)
            throws IOException, InterruptedException {
        LoadProcess load =
                LoadProcess.startUnpinned(stage.children(), stage.launcher().java());
        StartMeter meter = new StartMeter(home, stage.directory(), stage.children(), load, StartMeter.Setting.DEFAULT);
        Map<StartMeter.Way, List<StartMeter.Figures>> figures =
                meter.measure(List.of(Path.of(System.getProperty("java.home"))), rounds);
        Map<String, List<StartMeter.Figures>> byTitle = new LinkedHashMap<>();
        figures.forEach((way, measured) -> byTitle.put(way.title(), measured));
        raw.put("cold-start", byTitle);
        report.starts(figures);
    }

    // ---- the machine

    private List<String> names() {
        List<String> known = SubjectStarter.names();
        if (only != null) {
            for (String name : only) {
                if (!known.contains(name)) {
                    throw new IllegalArgumentException(
                            "--only: \"" + name + "\" is not known; use some of " + String.join(", ", known));
                }
            }
            return known.stream().filter(only::contains).toList();
        }
        List<String> usable = new ArrayList<>(known);
        for (NettySubject subject : NettySubject.all()) {
            if (subject.isOnlyByName() || !subject.transport().isAvailable()) {
                usable.remove(subject.name());
            }
        }
        for (Transport transport : Transport.values()) {
            if (!transport.isAvailable()) {
                System.err.println("bench/compare: left out, not available here: " + transport.word());
            }
        }
        return usable;
    }

    private void checkMachine(List<String> names) {
        int processors = Runtime.getRuntime().availableProcessors();
        if (processors < 2) {
            throw new IllegalArgumentException("only " + processors
                    + " processor is available; the proxy and the load need one each, or each measures the other");
        }
        if (proxyCore == loadCore) {
            throw new IllegalArgumentException(
                    "--proxy-core and --load-core are both " + proxyCore + "; they must differ");
        }
        List<String> needed = Stream.concat(
                        calls || everything ? Stream.of("taskset", "strace") : Stream.of("taskset"),
                        names.stream().filter(List.of(Subject.HAPROXY, Subject.NGINX)::contains))
                .toList();
        List<String> missing = Tool.missing(needed);
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("not on the PATH: " + String.join(", ", missing)
                    + "; install it, or leave a proxy out with --only");
        }
    }

    private void learnFacts(List<String> names, TidegateLauncher launcher) throws IOException {
        facts.put("command", "`" + commandLine.strip() + "`");
        facts.put(
                "kernel",
                Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip());
        facts.put("CPU", Runtime.getRuntime().availableProcessors() + " × " + cpuModel());
        facts.put("Java", javaVersion(launcher.java()));
        facts.put(
                "Netty",
                Version.identify().values().stream()
                        .filter(version -> version.artifactId().equals("netty-common"))
                        .map(Version::artifactVersion)
                        .collect(Collectors.joining()));
        facts.put("JVM flags", "`" + String.join(" ", launcher.flags()) + "`");
        if (names.contains(Subject.HAPROXY)) {
            facts.put("HAProxy", Tool.firstLine("haproxy", "-v"));
        }
        if (names.contains(Subject.NGINX)) {
            facts.put("nginx", Tool.firstLine("nginx", "-v"));
        }
        if (names.stream().anyMatch(NettySubject::isTidegate)) {
            facts.put("Tidegate", Tool.firstLine(launcher.script().toString(), "version"));
        }
        String cores = "proxy on core " + proxyCore + ", load and backend on core " + loadCore;
        if (comparesScenarios() || !grow.isEmpty()) {
            facts.put(
                    "method",
                    rounds + " rounds of " + seconds + " s, in turns; " + cores + "; JVMs warmed by " + warmupSeconds
                            + " s of load; ratios within a round, least–median–greatest");
        }
        if (memory || everything) {
            facts.put(
                    "memory",
                    "each proxy freshly started, 6 s of load, then " + memoryFrom + " to " + memoryTo
                            + " connections in six steps, and again for busy ones; a JVM collects (jcmd GC.run) before each"
                            + " reading; line by least squares; " + cores);
        }
        if (calls || everything) {
            facts.put("calls", "each proxy freshly started; " + cores);
        }
        if (coldStart || everything) {
            facts.put("cold start", rounds + " rounds, in turns; nothing is pinned");
        }
    }

    private static String javaVersion(String java) throws IOException {
        return Arrays.stream(Tool.output(java, "-version").split("\n", -1))
                .filter(line -> line.contains("build"))
                .findFirst()
                .orElse("unknown")
                .strip();
    }

    private static String cpuModel() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        }
    }
}
