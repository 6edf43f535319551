package dev.tidegate.bench.sim;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs experiments and shows what came of them. */
@Command(
        name = "bench/sim",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs Tidegate's pickers, lifetimes, retry budget and fair shares on virtual time, with chance from fixed seeds,"
                    + " and prints tables: what was expected, what came, and whether it is near enough.",
            "The same command gives the same tables, on every machine. docs/simulation.md is made of them."
        })
final class Simulation implements Callable<Integer> {
    @Parameters(
            arity = "0..*",
            paramLabel = "EXPERIMENT",
            description = "some of those that --list shows; default: all, which takes some minutes")
    private List<String> names = List.of();

    @Option(names = "--list", description = "show the names of all experiments")
    private boolean listing;

    @Option(names = "--seeds", defaultValue = "100", description = "of what is repeated; default ${DEFAULT-VALUE}")
    private int seeds;

    @Option(
            names = "--share",
            defaultValue = "1",
            description = "of the jobs of a whole run, such as 0.1 for a quick look; default ${DEFAULT-VALUE}")
    private double share;

    @Option(
            names = "--update",
            paramLabel = "FILE",
            description =
                    "put the tables into that document, between the marks that name them, and the charts beside it")
    private Path document;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Simulation()).setExecutionExceptionHandler((failure, line, parsed) -> {
            if (failure instanceof IOException || failure instanceof IllegalArgumentException) {
                line.getErr().println("bench/sim: " + failure.getMessage());
                return 1;
            }
            throw failure;
        });
    }

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        if (listing) {
            Catalogue.ALL.keySet().forEach(out::println);
            out.flush();
            return 0;
        }
        Map<String, Experiment> chosen = chosen();
        if (!(share > 0) || seeds < 2) {
            throw new IllegalArgumentException("--share must be above 0, and --seeds at least 2");
        }
        List<Figure> missed = new ArrayList<>();
        long events = 0;
        int figures = 0;
        long beginNanos = System.nanoTime();
        for (Map.Entry<String, Experiment> each : chosen.entrySet()) {
            long startNanos = System.nanoTime();
            Section section = each.getValue().run(new Scale(seeds, share));
            double seconds = (System.nanoTime() - startNanos) / 1e9;
            out.printf("## %s%n%n%s", each.getKey(), section.markdown());
            if (section.events() > 0) {
                out.println(speed(section.events(), seconds));
            }
            out.println();
            out.flush();
            missed.addAll(section.missed());
            figures += section.figures().size();
            events += section.events();
            if (document != null) {
                Document.update(document, each.getKey(), section);
            }
        }
        out.printf(
                "%d figures, %d missed; %s%n",
                figures, missed.size(), speed(events, (System.nanoTime() - beginNanos) / 1e9));
        missed.forEach(figure -> out.printf(
                "missed: %s, %s: %s, not %s%n", figure.id(), figure.what(), figure.got(), figure.expected()));
        out.flush();
        return 0;
    }

    private static String speed(long events, double seconds) {
        return String.format(Locale.ROOT, "%,d events in %.1f s: %,.0f a second", events, seconds, events / seconds);
    }

    private Map<String, Experiment> chosen() {
        if (names.isEmpty()) {
            return Catalogue.ALL;
        }
        Map<String, Experiment> chosen = new LinkedHashMap<>();
        for (String name : names) {
            Experiment experiment = Catalogue.ALL.get(name);
            if (experiment == null) {
                throw new IllegalArgumentException("there is no experiment \"" + name + "\"; there are "
                        + String.join(", ", Catalogue.ALL.keySet()));
            }
            chosen.put(name, experiment);
        }
        return chosen;
    }
}
