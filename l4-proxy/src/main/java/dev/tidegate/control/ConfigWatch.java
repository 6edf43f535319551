package dev.tidegate.control;

import dev.tidegate.config.ConfigSources;
import dev.tidegate.lifetime.Ticker;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the files of a configuration, by looking at them: events of a file system do not come over network mounts, and
 * stay with the old directory when a symbolic link above the file is swapped, as Kubernetes does. What counts is the file
 * that each path leads to: its identity, size and time of change. A change is told of once nothing has changed for
 * {@link #QUIET}, so that several files that are written one after another are one change.
 *
 * <p>Compares with what there was when it was made. Confined to {@code tidegate-watch} once it is started.
 */
public final class ConfigWatch implements AutoCloseable {
    /** How long nothing must have changed. */
    public static final Duration QUIET = Duration.ofMillis(500);

    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Logger log = LoggerFactory.getLogger(ConfigWatch.class);

    /** What a path leads to; {@code identity} is the file system's, null where it has none. */
    private record Print(boolean exists, Object identity, long bytes, FileTime changed) {
        static final Print NONE = new Print(false, null, 0, FileTime.fromMillis(0));
    }

    private final Path main;
    private final UnaryOperator<String> environment;
    private final Ticker ticker;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("tidegate-watch", true));

    private Print mainPrint;
    private Optional<ConfigSources> sources;
    private Map<Path, Print> seen;
    private boolean changed;
    private long changedAtNanos; // when it was last seen to have changed

    /**
     * Takes the files as they are now for what is known.
     *
     * @param main the main file
     * @param environment looks up a variable; null for one that is not set
     * @param ticker monotonic time
     */
    public ConfigWatch(Path main, UnaryOperator<String> environment, Ticker ticker) {
        this.main = main;
        this.environment = environment;
        this.ticker = ticker;
        this.mainPrint = print(main);
        this.sources = ConfigSources.of(main, environment);
        this.seen = prints();
    }

    /**
     * Looks twice a second from now on. Once only.
     *
     * @param whenChanged called after each change; must not wait
     */
    public void start(Runnable whenChanged) {
        var unused = thread.scheduleWithFixedDelay(
                () -> lookAndTell(whenChanged), LOOK.toNanos(), LOOK.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** A fault would end the watching without a word: it goes on. */
    private void lookAndTell(Runnable whenChanged) {
        try {
            if (look()) {
                log.info("the configuration has changed file={}", main);
                whenChanged.run();
            }
        } catch (RuntimeException fault) {
            log.error("a look at the configuration failed by a fault of our own file={}", main, fault);
        }
    }

    /** Looks once; whether to tell of a change now. */
    boolean look() {
        long now = ticker.nanoTime();
        Print mainNow = print(main);
        if (!mainNow.equals(mainPrint)) {
            mainPrint = mainNow;
            // Half written or gone, it does not say what it includes: what it included goes on to be watched.
            sources = ConfigSources.of(main, environment).or(() -> sources);
        }
        Map<Path, Print> prints = prints();
        if (!prints.equals(seen)) {
            seen = prints;
            changed = true;
            changedAtNanos = now;
        }
        boolean tell = changed && now - changedAtNanos >= QUIET.toNanos();
        changed &= !tell;
        return tell;
    }

    private Map<Path, Print> prints() {
        Map<Path, Print> prints = new LinkedHashMap<>();
        List<Path> files = sources.map(ConfigSources::files).orElse(List.of(main));
        files.forEach(file -> prints.put(file, print(file)));
        return prints;
    }

    private static Print print(Path file) {
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Print(true, attributes.fileKey(), attributes.size(), attributes.lastModifiedTime());
        } catch (IOException e) {
            return Print.NONE; // gone, or not to be looked at: to a reader it is the same
        }
    }

    /** Looks no more. */
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
