package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.lifetime.Lifespan;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * When the connections that an order covers begin to end, and when they must: drawn for each, so that nothing ends all at
 * once. Immutable.
 *
 * @param mode how they leave
 * @param deadline after which the last is cut; empty: nothing is cut
 * @param spread over which starts are drawn; not longer than the deadline
 */
record RetirePlan(DrainMode mode, Optional<Duration> deadline, Duration spread) {
    /** Hard limits that many share are spread over this part of the window, counted from its end, or over the spread. */
    private static final int LAST_PART = 5;

    private static final Duration STANDARD_SPREAD = Duration.ofSeconds(10);

    /** The times of one connection. */
    record Times(long startNanos, long hardNanos) {}

    /** A plan with the usual spread where none is given: 10 s, or half of a deadline that is nearer. */
    static RetirePlan of(DrainMode mode, Optional<Duration> deadline, Optional<Duration> spread) {
        Duration usual = deadline.map(limit -> limit.dividedBy(2))
                .filter(half -> half.compareTo(STANDARD_SPREAD) < 0)
                .orElse(STANDARD_SPREAD);
        return new RetirePlan(mode, deadline, spread.orElse(usual));
    }

    /** Draws the times of one connection. */
    Times draw(long nowNanos, RandomGenerator random) {
        long hard = deadline.map(limit -> nowNanos + limit.toNanos() - drawn(lastPart(limit), random))
                .orElse(nowNanos + Lifespan.NEVER);
        return switch (mode) {
            case WAIT -> new Times(nowNanos + Lifespan.NEVER, hard);
            case GRACEFUL -> new Times(nowNanos + drawn(spread, random), hard);
            case CUT -> {
                long at = nowNanos + drawn(spread, random);
                yield new Times(at, at);
            }
        };
    }

    /** When the last hard limit is; {@link Lifespan#NEVER} from now without one. */
    long lastNanos(long nowNanos) {
        if (mode == DrainMode.CUT) {
            return nowNanos + spread.toNanos();
        }
        return nowNanos + deadline.map(Duration::toNanos).orElse(Lifespan.NEVER);
    }

    private Duration lastPart(Duration limit) {
        Duration part = limit.dividedBy(LAST_PART);
        return part.compareTo(spread) < 0 ? part : spread;
    }

    private static long drawn(Duration width, RandomGenerator random) {
        return width.isZero() ? 0 : random.nextLong(width.toNanos());
    }
}
