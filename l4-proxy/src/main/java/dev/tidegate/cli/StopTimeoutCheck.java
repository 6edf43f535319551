package dev.tidegate.cli;

import dev.tidegate.systemd.ServiceUnit;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Compares what the unit allows for a stop with what the configuration does. */
final class StopTimeoutCheck {
    private static final Logger log = LoggerFactory.getLogger(StopTimeoutCheck.class);

    /** What a stop may take beyond its deadline: the last connection's last bytes, workers, logs. */
    static final Duration MARGIN = Duration.ofSeconds(5);

    private StopTimeoutCheck() {}

    /** Looks once, on a thread of its own, which takes as long as {@code systemctl} does. */
    static void start(Supplier<Duration> deadline) {
        Thread thread = new Thread(
                () -> ServiceUnit.ofThisProcess()
                        .flatMap(unit ->
                                unit.stopTimeout().flatMap(timeout -> complaint(unit.name(), timeout, deadline.get())))
                        .ifPresent(line -> log.warn("{}", line)),
                "tidegate-stop-timeout");
        thread.setDaemon(true);
        thread.start();
    }

    /** One line; empty when they fit. */
    static Optional<String> complaint(String unit, Duration timeout, Duration deadline) {
        Duration needed = deadline.plus(MARGIN);
        if (timeout.compareTo(needed) >= 0) {
            return Optional.empty();
        }
        return Optional.of(unit + ": TimeoutStopSec is " + seconds(timeout) + ", process.shutdown.deadline "
                + seconds(deadline) + ": a stop asks systemd for more time as it goes, but is killed when it cannot;"
                + " set TimeoutStopSec=" + needed.plusMillis(999).toSeconds() + " or more, or a shorter deadline");
    }

    private static String seconds(Duration time) {
        return time.toMillisPart() == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
    }
}
