package dev.tidegate.cli;

import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.Problem;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.ReloadResult;
import dev.tidegate.telemetry.ReloadCounts;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reloads of a configuration file, one at a time. What is asked for while one runs becomes one more after it, however often
 * it is asked for: that one reads the file as the last asker left it.
 *
 * <p>Asked by any thread; carried out on {@code tidegate-reload}.
 */
final class ConfigReloads implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ConfigReloads.class);

    private final Path file;
    private final UnaryOperator<String> environment;
    private final Proxy proxy;
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("tidegate-reload", true));
    private final AtomicBoolean waiting = new AtomicBoolean();

    /**
     * @param file the main file
     * @param environment looks up a variable; null for one that is not set
     * @param proxy whose configuration it is
     */
    ConfigReloads(Path file, UnaryOperator<String> environment, Proxy proxy) {
        this.file = file;
        this.environment = environment;
        this.proxy = proxy;
    }

    /** Asks for a reload, and does not wait for it. */
    void request() {
        if (!isRunning()) {
            log.info("reload ignored: the process is stopping");
        } else if (waiting.compareAndSet(false, true)) {
            try {
                thread.execute(this::reload);
            } catch (RejectedExecutionException closed) {
                log.info("reload ignored: the process has stopped");
            }
        }
    }

    private boolean isRunning() {
        return proxy.phase() == Proxy.Phase.STARTING || proxy.phase() == Proxy.Phase.RUNNING;
    }

    private void reload() {
        waiting.set(false); // from here on the file may change again after it was read
        ConfigResult read = ConfigReader.read(file, environment);
        for (Problem problem : read.problems()) {
            if (problem.severity() == Problem.Severity.ERROR) {
                log.error("{}", problem);
            } else {
                log.warn("{}", problem);
            }
        }
        if (read.config().isPresent()) {
            tell(proxy.reload(read.config().get()).join());
        } else {
            proxy.reloads().count(ReloadCounts.Result.REJECTED);
            log.error(
                    "reload rejected, nothing changed gen={} file={} problems={}",
                    proxy.snapshot().generation(),
                    file,
                    read.problems().size());
        }
    }

    private void tell(ReloadResult result) {
        switch (result.result()) {
            case APPLIED -> {
                result.diff().live().forEach(change -> log.info("reload: {}", change));
                log.info(
                        "reload applied gen={} changes={}",
                        result.generation(),
                        result.diff().live().size());
                Service.listening(proxy).forEach(log::debug);
            }
            case UNCHANGED -> log.info("reload: nothing to change gen={}", result.generation());
            case REJECTED ->
                log.error("reload rejected, nothing changed gen={} reason={}", result.generation(), result.reason());
        }
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
