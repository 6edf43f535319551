package dev.tidegate.control;

import dev.tidegate.config.Config;
import dev.tidegate.config.LogConfig;
import dev.tidegate.telemetry.LogLevels;
import org.slf4j.event.Level;

/** How much is logged: what an operator said last, else what the configuration says. Confined to control's thread. */
final class LevelInForce {
    private LogConfig.Level now;

    /** Takes how much is logged when it is made. */
    LevelInForce(LogConfig.Level now) {
        this.now = now;
    }

    /** Has as much logged as those two say. */
    void follow(Config config, RuntimeState runtime) {
        LogConfig.Level wanted = of(config, runtime);
        if (wanted != now) {
            now = wanted;
            LogLevels.set(Level.valueOf(wanted.name()));
        }
    }

    static LogConfig.Level of(Config config, RuntimeState runtime) {
        return runtime.logLevel()
                .map(RuntimeState.LogLevel::value)
                .orElse(config.log().level());
    }
}
