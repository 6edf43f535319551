package dev.tidegate.cli;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.ConfigWatch;
import dev.tidegate.control.FileReloads;
import dev.tidegate.listener.TransportChoice;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code tidegate run}: the balancer itself, until a signal stops it. */
@Command(
        name = RunCommand.NAME,
        description = "Runs the balancer until it is stopped by a signal.",
        footerHeading = "%nSignals:%n",
        footer = {
            "  TERM  stops gracefully, within process.shutdown.deadline; a second TERM stops now",
            "  INT   stops now",
            "  HUP   reads the configuration again: all of it is applied, or nothing",
            "  USR1  reopens the access log",
            "  USR2  upgrades: starts the program anew, which takes over the listeners; this process then drains"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped by a signal",
            "1:cannot run: an address in use, a transport not available",
            "2:wrong usage",
            "78:the configuration is missing or invalid"
        })
final class RunCommand implements Callable<Integer> {
    static final String NAME = "run";
    static final String TAKE_OVER = "--take-over";

    @Mixin
    private ConfigOption config;

    @Option(
            names = "--watch",
            description = "Also reads the configuration again when one of its files has changed, included ones too.")
    private boolean watch;

    @Option(
            names = TAKE_OVER,
            description =
                    "Takes the listening sockets over from the process that runs: it goes on accepting until this one"
                            + " is ready, and then drains. Nobody is refused meanwhile.")
    private boolean takeOver;

    @ParentCommand
    private Main main;

    @Spec
    private CommandSpec spec;

    private PrintWriter err; // null: that of the command line
    private List<String> arguments; // null: those of the command line

    /** To be filled in from the command line. */
    RunCommand() {}

    /** As if the command line had said so. */
    RunCommand(PlainRun how, Main main, PrintWriter err) {
        this.config = new ConfigOption(how.config());
        this.watch = how.watch();
        this.takeOver = how.takeOver();
        this.arguments = how.arguments();
        this.main = main;
        this.err = err;
    }

    private PrintWriter err() {
        return err != null ? err : spec.commandLine().getErr();
    }

    @Override
    public Integer call() {
        if (!watch) {
            return readAndRun(reloads -> {});
        }
        // Made before the files are read: what changes while the process starts is not missed.
        try (ConfigWatch files = new ConfigWatch(config.file(), System::getenv, System::nanoTime)) {
            return readAndRun(reloads -> files.start(() -> request(reloads)));
        }
    }

    private Integer readAndRun(Consumer<FileReloads> whenUp) {
        ConfigResult result = ConfigReader.read(config.file(), System::getenv);
        result.problems().forEach(err()::println);
        if (result.config().isEmpty()) {
            return Exit.CONFIG;
        }
        return run(result.config().get(), whenUp);
    }

    private Integer run(Config valid, Consumer<FileReloads> whenUp) {
        // Not a static field: every command looks at this class, and the logger takes longer to load than most of them
        // run.
        Logger log = LoggerFactory.getLogger(RunCommand.class);
        WarmUp warmUp = new WarmUp(valid.process().warmUp());
        CompletableFuture<Void> askedToStop = new CompletableFuture<>();
        main.signals().starting(() -> {
            askedToStop.complete(null);
            warmUp.stop();
        });
        String ignored = main.signals().handleAll(); // once more, for a command line that begins otherwise
        try (SystemdNotice notice = SystemdNotice.begin(System::getenv, takeOver)) {
            Service service;
            try {
                service = Service.start(
                        valid,
                        Optional.of(config.file()),
                        System.getenv(),
                        new Succession(takeOver, arguments(), askedToStop, notice::handedOver),
                        warmUp);
            } catch (AskedToStopException asked) {
                log.info("{}", asked.getMessage());
                return Exit.OK;
            } catch (IOException | TransportChoice.UnavailableException cannot) {
                err().println("tidegate: " + cannot.getMessage());
                return Exit.FAILED;
            }
            serve(service, notice, log, ignored, whenUp);
        }
        return Exit.OK;
    }

    private void serve(
            Service service, SystemdNotice notice, Logger log, String ignored, Consumer<FileReloads> whenUp) {
        if (!ignored.isEmpty()) {
            log.warn("signals ignored, since they were when this process started (nohup, a script's &): {}", ignored);
        }
        FileReloads reloads = service.reloads().orElseThrow();
        main.signals()
                .up(new StartingSignals.Actions(
                        service::onTerm,
                        service::stopNow,
                        () -> {
                            log.info("HUP received");
                            request(reloads);
                        },
                        service::reopenLogs,
                        service::upgrade));
        whenUp.accept(reloads);
        main.whenUp().accept(service);
        notice.up(service, System::getenv);
        service.awaitStopped();
        if (notice.active()) {
            // With its main process a manager ends the whole service, connections of the process before included.
            service.awaitPredecessor(notice::waitsFor);
        }
    }

    private List<String> arguments() {
        return arguments != null
                ? arguments
                : spec.root().commandLine().getParseResult().originalArgs();
    }

    /** The log says how it came out. */
    private static void request(FileReloads reloads) {
        var unused = reloads.reload();
    }
}
