package dev.tidegate.control;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.Problem;
import dev.tidegate.telemetry.ReloadCounts;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reloads of a configuration file, one at a time. What is asked for while one runs becomes one more after it, however often
 * it is asked for: that one reads the file as the last asker left it, and its result is for all of them. Dry runs stand in
 * the same line. What is no regular file is refused: a pipe without a writer would hold up every later one.
 *
 * <p>Asked by any thread; carried out on {@code tidegate-reload}.
 */
public final class FileReloads implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(FileReloads.class);

    /**
     * How reading a file, and putting it in force or comparing it with what is, came out. Immutable.
     *
     * @param problems what is wrong with the file, warnings included, in file order
     * @param result what came of it; empty when the file has an error
     */
    public record FileReload(List<Problem> problems, Optional<ReloadResult> result) {
        /** Copies the list. */
        public FileReload {
            problems = List.copyOf(problems);
        }
    }

    /** Is told of each reload that is carried out, on {@code tidegate-reload}. Must not wait, nor throw. */
    public interface Observer {
        /** It begins: the file is read next. */
        void onBegin();

        /**
         * It is over.
         *
         * @param inForce whether what the file says is in force now
         */
        void onEnd(boolean inForce);
    }

    private static final Observer NOBODY = new Observer() {
        @Override
        public void onBegin() {
            // nobody is told
        }

        @Override
        public void onEnd(boolean inForce) {
            // nobody is told
        }
    };

    /**
     * What is done with a configuration that was read.
     *
     * @param apply puts it in force, if the generation is the given one
     * @param compare tells what applying it would do, and does nothing
     * @param running whether the process is one that can reload: not stopping
     * @param generation of the configuration in force
     * @param counts how reloads came out; what is applied is counted by {@code apply}
     */
    record Target(
            BiFunction<Config, OptionalLong, CompletableFuture<ReloadResult>> apply,
            Function<Config, CompletableFuture<ReloadResult>> compare,
            BooleanSupplier running,
            LongSupplier generation,
            ReloadCounts counts) {}

    private final Path file;
    private final UnaryOperator<String> environment;
    private final Target target;
    private final Runnable whenRead;
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("tidegate-reload", true));
    private final Line reloads = new Line(() -> reloadObserved(OptionalLong.empty()));
    private volatile Observer observer = NOBODY; // writer: whoever wires the process
    private boolean lastInForce = true; // what the observer was told last; on the thread
    private final Line dryRuns = new Line(this::dryRunNow);

    /**
     * Reloads that file into that proxy.
     *
     * @param file the main file
     * @param environment looks up a variable; null for one that is not set
     * @param proxy whose configuration it is
     * @param whenRead called after each reload that was not rejected, before its askers have their answer
     */
    public FileReloads(Path file, UnaryOperator<String> environment, Proxy proxy, Runnable whenRead) {
        this(
                file,
                environment,
                new Target(
                        proxy::reload,
                        proxy::dryRun,
                        () -> proxy.phase() == Proxy.Phase.STARTING || proxy.phase() == Proxy.Phase.RUNNING,
                        () -> proxy.snapshot().generation(),
                        proxy.reloads()),
                whenRead);
    }

    FileReloads(Path file, UnaryOperator<String> environment, Target target, Runnable whenRead) {
        this.file = file;
        this.environment = environment;
        this.target = target;
        this.whenRead = whenRead;
    }

    /**
     * Reads the file and puts it in force, all of it or nothing. Problems and changes are logged.
     *
     * @return how it came out; rejected when the process is stopping. Completes exceptionally only for a fault of our own
     */
    public CompletableFuture<FileReload> reload() {
        return reload(OptionalLong.empty());
    }

    /**
     * The same, if a generation is in force when the file is put in force, and not only now: to read it takes a while, and
     * others wait before it. Who names one has a reload of his own, since what others ask for is no answer to him.
     *
     * @param ifGeneration empty: whichever it is
     * @return as above; when it is another one, {@link ReloadResult#stale}: that is no failure and is not counted
     */
    CompletableFuture<FileReload> reload(OptionalLong ifGeneration) {
        if (!target.running().getAsBoolean()) {
            log.info("reload ignored: the process is stopping");
            return CompletableFuture.completedFuture(rejected("the process is stopping"));
        }
        return ifGeneration.isEmpty() ? reloads.ask() : new Line(() -> reloadObserved(ifGeneration)).ask();
    }

    /**
     * Reads the file and tells what a reload would do. Changes, logs and counts nothing.
     *
     * @return how it would come out; completes exceptionally only for a fault of our own
     */
    public CompletableFuture<FileReload> dryRun() {
        return dryRuns.ask();
    }

    private FileReload rejected(String reason) {
        return new FileReload(
                List.of(), Optional.of(ReloadResult.rejected(target.generation().getAsLong(), reason)));
    }

    /** Tells that observer of every reload from now on, whoever asked for it; of dry runs nobody is told. */
    public void observe(Observer one) {
        observer = one;
    }

    private FileReload reloadObserved(OptionalLong ifGeneration) {
        Observer told = observer;
        boolean inForce = false;
        told.onBegin();
        try {
            FileReload reload = reloadNow(ifGeneration);
            inForce = reload.result()
                    .map(result -> result.stale() ? lastInForce : result.result() != ReloadCounts.Result.REJECTED)
                    .orElse(false);
            return reload;
        } finally {
            lastInForce = inForce;
            told.onEnd(inForce);
        }
    }

    private FileReload reloadNow(OptionalLong ifGeneration) {
        ConfigResult read = ConfigReader.readWithoutWaiting(file, environment);
        for (Problem problem : read.problems()) {
            if (problem.severity() == Problem.Severity.ERROR) {
                log.error("{}", problem);
            } else {
                log.warn("{}", problem);
            }
        }
        if (read.config().isEmpty()) {
            target.counts().count(ReloadCounts.Result.REJECTED);
            log.error(
                    "reload rejected, nothing changed gen={} file={} problems={}",
                    target.generation().getAsLong(),
                    file,
                    read.problems().size());
            return new FileReload(read.problems(), Optional.empty());
        }
        ReloadResult result =
                target.apply().apply(read.config().get(), ifGeneration).join();
        tell(result);
        return new FileReload(read.problems(), Optional.of(result));
    }

    private void tell(ReloadResult result) {
        if (result.stale()) {
            log.info("reload not done, nothing changed gen={} reason={}", result.generation(), result.reason());
            return;
        }
        switch (result.result()) {
            case APPLIED -> {
                result.diff().live().forEach(change -> log.info("reload: {}", change));
                log.info(
                        "reload applied gen={} changes={}",
                        result.generation(),
                        result.diff().live().size());
                whenRead.run();
            }
            case UNCHANGED -> {
                log.info("reload: nothing to change gen={}", result.generation());
                whenRead.run();
            }
            case REJECTED ->
                log.error("reload rejected, nothing changed gen={} reason={}", result.generation(), result.reason());
        }
    }

    private FileReload dryRunNow() {
        ConfigResult read = ConfigReader.readWithoutWaiting(file, environment);
        return new FileReload(
                read.problems(),
                read.config().map(config -> target.compare().apply(config).join()));
    }

    /** Requests of one kind, of which those that wait are one. */
    private final class Line {
        private final Supplier<FileReload> work;
        private CompletableFuture<FileReload> waiting; // null while nobody waits; guarded by this

        Line(Supplier<FileReload> work) {
            this.work = work;
        }

        synchronized CompletableFuture<FileReload> ask() {
            if (waiting == null) {
                CompletableFuture<FileReload> asked = new CompletableFuture<>();
                try {
                    thread.execute(this::run);
                } catch (RejectedExecutionException closed) {
                    log.info("reload ignored: the process has stopped");
                    return CompletableFuture.completedFuture(rejected("the process has stopped"));
                }
                waiting = asked;
            }
            return waiting.copy(); // so that none of the askers can complete it for the others
        }

        private void run() {
            CompletableFuture<FileReload> asked = next(); // from here on the file may change again after it was read
            try {
                asked.complete(work.get());
            } catch (RuntimeException fault) {
                log.error("a reload failed by a fault of our own", fault);
                asked.completeExceptionally(fault);
            }
        }

        private synchronized CompletableFuture<FileReload> next() {
            CompletableFuture<FileReload> asked = waiting;
            waiting = null;
            return asked;
        }
    }

    /** Takes no more requests; those that wait are still carried out. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
