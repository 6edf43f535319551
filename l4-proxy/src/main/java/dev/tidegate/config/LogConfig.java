package dev.tidegate.config;

import java.util.Objects;

/**
 * What is logged. Immutable.
 *
 * @param level how much the process says about itself
 * @param access the log with one line a connection
 */
public record LogConfig(Level level, AccessLogConfig access) {
    /** Refuses nulls. */
    public LogConfig {
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(access, "access");
    }

    /** How much the process says about itself; each level includes those before it. */
    public enum Level {
        /** Tidegate's own faults. */
        ERROR,
        /** Also the operator's mistakes. */
        WARN,
        /** Also starts, stops and changes of state. */
        INFO,
        /** Also what helps to follow one connection. */
        DEBUG,
        /** Everything. */
        TRACE
    }
}
