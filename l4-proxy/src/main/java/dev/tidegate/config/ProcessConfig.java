package dev.tidegate.config;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What holds for the whole process. Immutable.
 *
 * @param workers event loops, 1..256; empty is {@code auto}: one for each available processor
 * @param transport how sockets are driven
 * @param maxConnections client connections at once, 1..10,000,000; empty is {@code auto}: from the limits on descriptors and memory
 * @param stateDir where runtime state is kept, absolute or relative to the working directory; empty is where the
 *     environment says
 * @param warmUp for how long at most the process exercises itself before it listens; empty is not at all
 * @param shutdown how a graceful stop goes
 */
public record ProcessConfig(
        OptionalInt workers,
        Transport transport,
        OptionalInt maxConnections,
        Optional<String> stateDir,
        Optional<Duration> warmUp,
        ShutdownConfig shutdown) {
    /** How long a warm-up takes at most, unless the configuration has it otherwise. */
    static final Duration WARM_UP = Duration.ofSeconds(1);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is out of range, or the path cannot be one
     */
    public ProcessConfig {
        IntRange.WORKERS.require("workers", workers);
        Objects.requireNonNull(transport, "transport");
        IntRange.MAX_CONNECTIONS.require("max-connections", maxConnections);
        stateDir.ifPresent(Paths::requireDirectory);
        DurationRange.WARM_UP.require("warm-up", warmUp);
        Objects.requireNonNull(shutdown, "shutdown");
    }

    /** The same with another way to stop, which is all of it that a running process can change. */
    public ProcessConfig withShutdown(ShutdownConfig another) {
        return new ProcessConfig(workers, transport, maxConnections, stateDir, warmUp, another);
    }

    /** How sockets are driven. */
    public enum Transport {
        /** The best that works on this machine; the log says which and why. */
        AUTO,
        /** Linux io_uring, or the process does not start. */
        IO_URING,
        /** Linux epoll, or the process does not start. */
        EPOLL,
        /** The JDK's selector, which works everywhere. */
        NIO
    }
}
