package dev.tidegate.cli;

import dev.tidegate.config.Durations;
import dev.tidegate.listener.TransportChoice;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code tidegate demo}. */
@Command(
        name = "demo",
        description = {
            "Shows a balancer at work: three endpoints and one that joins, clients with long-lived connections, a drain by the"
                    + " admin API, a live table.",
            "The whole story takes about 20 s; without an end it is told again every half minute."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:it ran to its end, or was ended by ctrl-C", "1:it could not start", "2:wrong usage"})
final class DemoCommand implements Callable<Integer> {
    private static final long LOOK_MILLIS = 100;
    private static final int LOOKS_A_REDRAW = 5;
    private static final int LOOKS_A_PLAIN_LINE = 10;

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description = "Ends by itself after this long, as in 20s; without it, with ctrl-C.")
    private Duration length;

    @Spec
    private CommandSpec spec;

    /** Reads durations as the configuration writes them. */
    static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            Duration duration;
            try {
                duration = Durations.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
            if (duration.isZero()) {
                throw new TypeConversionException("\"" + text + "\" is no time at all; write 20s or so");
            }
            return duration;
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        Signals.handle("INT", ended::countDown);
        Signals.handle("TERM", ended::countDown);
        Demo demo;
        try {
            demo = Demo.start(length);
        } catch (IOException | TransportChoice.UnavailableException cannot) {
            spec.commandLine().getErr().println("tidegate: " + cannot.getMessage());
            return Exit.FAILED;
        }
        DemoView last;
        try (demo) {
            introduce(demo);
            show(demo, ended);
            demo.endClients();
            last = demo.view();
        }
        out().println();
        out().println(DemoTable.closing(last));
        return Exit.OK;
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private void introduce(Demo demo) {
        String balancer = demo.balancer().getAddress().getHostAddress() + ":"
                + demo.balancer().getPort();
        out().println("Tidegate " + VersionCommand.version() + ": " + DemoCrowd.SIZE + " clients -> balancer on "
                + balancer + " -> endpoints a, b, c, and later d");
        out().println("  try it     curl http://" + balancer + "/");
        out().println("  look       http://" + demo.adminAddress() + "/ in a browser: the status page, live");
        out().println("  drain      curl --unix-socket " + demo.adminSocket()
                + " -X POST http://localhost/v1/backends/hello/endpoints/c/drain");
        out().println("  metrics    curl http://" + demo.adminAddress() + "/metrics");
        out().println("  config     " + demo.configFile() + " (kept while this runs)");
        out().println("  transport  " + demo.choice().transport().name() + " ("
                + demo.choice().reason() + ")");
        out().println("  ends       "
                + (length == null ? "with ctrl-C" : "after " + Durations.format(length) + ", or with ctrl-C"));
        out().println();
    }

    private void show(Demo demo, CountDownLatch ended) throws InterruptedException {
        boolean terminal =
                Stdout.isTerminal(System.getenv()) && !System.getenv().containsKey("NO_COLOR");
        DemoTable table = new DemoTable(terminal);
        long looks = 0;
        while (!demo.isOver() && !ended.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
            demo.advance();
            if (++looks % (terminal ? LOOKS_A_REDRAW : LOOKS_A_PLAIN_LINE) == 0) {
                out().print(table.draw(demo.view()));
                out().flush();
            }
        }
    }
}
