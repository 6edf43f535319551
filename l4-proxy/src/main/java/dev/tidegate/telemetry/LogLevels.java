package dev.tidegate.telemetry;

import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** How much the process says. Safe from any thread. */
public final class LogLevels {
    private static final String OURS = "dev.tidegate";

    private LogLevels() {}

    /** Sets the level of Tidegate's own loggers; libraries keep to warnings. */
    public static void set(Level level) {
        context().getLogger(OURS).setLevel(ch.qos.logback.classic.Level.convertAnSLF4JLevel(level));
    }

    private static LoggerContext context() {
        return (LoggerContext) LoggerFactory.getILoggerFactory();
    }
}
