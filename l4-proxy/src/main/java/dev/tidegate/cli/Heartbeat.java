package dev.tidegate.cli;

import dev.tidegate.control.RollCall;
import dev.tidegate.lifetime.Ticker;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signs of life for the service manager's watchdog: one for each roll call that control and every worker have answered, and
 * none while one of them is stuck. No roll call is given up: it brings its sign of life as soon as the last has answered. So
 * a process that stood still as a whole (a suspended machine, a starved container) gives one with the first turn of its
 * loops after it wakes.
 *
 * <p>Confined to the thread that beats.
 */
final class Heartbeat {
    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final Function<Runnable, RollCall> roll;
    private final Runnable sign;
    private final Ticker ticker;
    private final long periodNanos;
    private RollCall call; // null before the first
    private long calledNanos;
    private long beatNanos;
    private boolean told;

    /**
     * @param roll begins a roll call, and has that done once all have answered
     * @param sign gives a sign of life; called by any thread
     * @param ticker monotonic time
     * @param periodNanos between two beats: half of what the watchdog allows
     */
    Heartbeat(Function<Runnable, RollCall> roll, Runnable sign, Ticker ticker, long periodNanos) {
        this.roll = roll;
        this.sign = sign;
        this.ticker = ticker;
        this.periodNanos = periodNanos;
    }

    /** To be called once a period. Never waits. */
    void beat() {
        long now = ticker.nanoTime();
        if (call == null || call.complete()) {
            if (told) {
                told = false;
                log.warn("all turn again, signs of life for the watchdog go on");
            }
            calledNanos = now;
            call = Objects.requireNonNull(roll.apply(sign));
        } else if (!told && !stoodStill(now)) {
            told = true;
            log.error(
                    "stuck, no sign of life for the watchdog while it lasts: {} took no turn for {} ms",
                    String.join(", ", call.missing()),
                    TimeUnit.NANOSECONDS.toMillis(now - calledNanos));
        }
        beatNanos = now;
    }

    /** A beat that is late itself says that nobody had time, and not who is stuck: they have until the next. */
    private boolean stoodStill(long nowNanos) {
        return nowNanos - beatNanos > periodNanos + periodNanos / 2;
    }
}
