package dev.tidegate.systemd;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How often the service manager wants a sign of life, as sd_watchdog_enabled(3) has it. */
public final class WatchdogRequest {
    private static final Logger log = LoggerFactory.getLogger(WatchdogRequest.class);
    private static final String INTERVAL = "WATCHDOG_USEC";
    private static final String PROCESS = "WATCHDOG_PID";

    private WatchdogRequest() {}

    /**
     * The longest time between two signs of life.
     *
     * @param environment looks up a variable; null for one that is not set
     * @param pid of this process: what is asked of another is not asked of it
     * @return empty when none is asked for
     */
    public static Optional<Duration> interval(UnaryOperator<String> environment, long pid) {
        String micros = environment.apply(INTERVAL);
        String asked = environment.apply(PROCESS);
        if (micros == null || (asked != null && !asked.equals(Long.toString(pid)))) {
            return Optional.empty();
        }
        try {
            long value = Long.parseLong(micros);
            if (value > 0) {
                return Optional.of(Duration.of(value, ChronoUnit.MICROS));
            }
        } catch (NumberFormatException noNumber) {
            log.debug("not a number", noNumber);
        }
        log.warn("{}: \"{}\" is not a positive number of microseconds; no sign of life is sent", INTERVAL, micros);
        return Optional.empty();
    }
}
