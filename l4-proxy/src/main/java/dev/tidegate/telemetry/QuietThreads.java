package dev.tidegate.telemetry;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * Until it ends, what the threads of one group log is left out, save errors: what they do is of no concern to an
 * operator, and speaks of things that nobody has configured. Any thread.
 */
public final class QuietThreads {
    private final LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    private final TurboFilter filter;

    /**
     * Begins.
     *
     * @param group whose threads are to be quiet, those of its subgroups too
     */
    public QuietThreads(ThreadGroup group) {
        filter = new TurboFilter() {
            @Override
            public FilterReply decide(
                    Marker marker, Logger logger, Level level, String format, Object[] params, Throwable t) {
                boolean quiet = !level.isGreaterOrEqual(Level.ERROR)
                        && group.parentOf(Thread.currentThread().getThreadGroup());
                return quiet ? FilterReply.DENY : FilterReply.NEUTRAL;
            }
        };
        filter.start();
        context.addTurboFilter(filter);
    }

    /** They are heard again. */
    public void end() {
        context.getTurboFilterList().remove(filter);
        filter.stop();
    }
}
