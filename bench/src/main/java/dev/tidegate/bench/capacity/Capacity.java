package dev.tidegate.bench.capacity;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How much load servers bear, and how many servers a load needs. */
@Command(
        name = "bench/capacity",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "How much load a pool bears when jobs are to wait no longer than so, and the other way round: from the Erlang C"
                    + " formula (one queue, exponential service times, one job at a time on each server).",
            "With --service and --queueing: the highest utilisation for each size of pool. With --rate too: how many servers"
                    + " that load needs. With --service and --utilisation: how long jobs wait.",
            "Service times that vary more than exponential ones, and a balancer that cannot see one queue, wait longer:"
                    + " docs/simulation.md says how much."
        })
final class Capacity implements Callable<Integer> {
    private static final List<Integer> SIZES = List.of(1, 2, 4, 8, 16, 32, 64, 128);
    private static final double[] SHARES = {0.5, 0.9, 0.99};

    @Option(
            names = "--service",
            required = true,
            paramLabel = "TIME",
            converter = Seconds.class,
            description = "the mean time that one job takes on one server: 250us, 50ms, 2s, 1m")
    private double serviceSeconds;

    @Option(
            names = "--queueing",
            paramLabel = "TIME",
            converter = Seconds.class,
            description = "the mean time in the queue that is borne with")
    private Double queueingSeconds;

    @Option(names = "--rate", paramLabel = "PER_SECOND", description = "jobs that come in a second, to all together")
    private Double rate;

    @Option(
            names = "--utilisation",
            paramLabel = "SHARE",
            converter = Share.class,
            description = "the part of all servers that is busy: 80%%")
    private Double utilisation;

    @Option(
            names = "--servers",
            split = ",",
            paramLabel = "N",
            description = "sizes of pools; default 1,2,4,8,16,32,64,128")
    private List<Integer> servers = SIZES;

    @Option(names = "--output", paramLabel = "table|csv", defaultValue = "table", description = "default table")
    private Output output;

    /** How the answer is written. */
    private enum Output {
        table,
        csv
    }

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Capacity()).setExecutionExceptionHandler((failure, line, parsed) -> {
            if (failure instanceof IllegalArgumentException) {
                line.getErr().println("bench/capacity: " + failure.getMessage());
                return CommandLine.ExitCode.USAGE;
            }
            throw failure;
        });
    }

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() {
        if (utilisation != null && (queueingSeconds != null || rate != null)) {
            throw new IllegalArgumentException(
                    "--utilisation asks how long jobs wait: leave --queueing and --rate out");
        }
        if (utilisation == null && queueingSeconds == null) {
            throw new IllegalArgumentException("say what is borne with (--queueing 10ms) or given (--utilisation 80%)");
        }
        if (utilisation != null) {
            waits();
        } else if (rate != null) {
            size();
        } else {
            utilisations();
        }
        spec.commandLine().getOut().flush();
        return 0;
    }

    private void utilisations() {
        row("servers", "highest utilisation", "jobs/s", "of them wait");
        for (int count : servers) {
            ErlangC pool = new ErlangC(count, serviceSeconds);
            double highest = pool.utilisationFor(queueingSeconds);
            row(
                    Integer.toString(count),
                    percent(Math.floor(highest * 1000) / 1000), // rounded up it would be too much
                    number(highest * count / serviceSeconds),
                    percent(pool.waitingShare(highest)));
        }
    }

    private void size() {
        int count = ErlangC.serversFor(rate, serviceSeconds, queueingSeconds);
        double busy = rate * serviceSeconds / count;
        ErlangC pool = new ErlangC(count, serviceSeconds);
        row("servers", "utilisation", "mean queueing (ms)", "of them wait");
        row(
                Integer.toString(count),
                percent(busy),
                number(pool.queueingSeconds(busy) * 1e3),
                percent(pool.waitingShare(busy)));
    }

    private void waits() {
        row("servers", "jobs/s", "mean queueing (ms)", "of them wait", "p50 (ms)", "p90 (ms)", "p99 (ms)");
        for (int count : servers) {
            ErlangC pool = new ErlangC(count, serviceSeconds);
            String[] cells = new String[4 + SHARES.length];
            cells[0] = Integer.toString(count);
            cells[1] = number(utilisation * count / serviceSeconds);
            cells[2] = number(pool.queueingSeconds(utilisation) * 1e3);
            cells[3] = percent(pool.waitingShare(utilisation));
            for (int i = 0; i < SHARES.length; i++) {
                cells[4 + i] = number(pool.queueingSeconds(utilisation, SHARES[i]) * 1e3);
            }
            row(cells);
        }
    }

    private void row(String... cells) {
        if (output == Output.csv) {
            spec.commandLine().getOut().println(String.join(",", cells));
            return;
        }
        StringBuilder line = new StringBuilder();
        for (String cell : cells) {
            line.append(String.format(Locale.ROOT, "%21s", cell));
        }
        spec.commandLine().getOut().println(line.toString().substring(12));
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f%%", share * 100);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%.0f", value);
    }

    /** A time as the configuration writes it, and finer. */
    static final class Seconds implements ITypeConverter<Double> {
        private static final Pattern TIME = Pattern.compile("(\\d+(?:\\.\\d+)?)(us|ms|s|m)");

        @Override
        public Double convert(String text) {
            Matcher time = TIME.matcher(text);
            if (!time.matches()) {
                throw new TypeConversionException("\"" + text + "\" is no time; write 250us, 50ms, 2s or 1m");
            }
            double unit =
                    switch (time.group(2)) {
                        case "us" -> 1e-6;
                        case "ms" -> 1e-3;
                        case "s" -> 1;
                        default -> 60;
                    };
            return Double.parseDouble(time.group(1)) * unit;
        }
    }

    /** A share in percent. */
    static final class Share implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            Matcher share = Pattern.compile("(\\d+(?:\\.\\d+)?)%").matcher(text);
            if (!share.matches()) {
                throw new TypeConversionException("\"" + text + "\" is no share; write 80%");
            }
            return Double.parseDouble(share.group(1)) / 100;
        }
    }
}
