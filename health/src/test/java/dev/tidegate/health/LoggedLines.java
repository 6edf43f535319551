package dev.tidegate.health;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What some classes log from now on, until it is closed. */
final class LoggedLines implements AutoCloseable {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final List<Logger> loggers;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            lines.add(event.getLevel() + " " + event.getFormattedMessage());
        }
    };

    private LoggedLines(List<Logger> loggers) {
        this.loggers = loggers;
        appender.start();
        loggers.forEach(logger -> logger.addAppender(appender));
    }

    static LoggedLines of(Class<?>... classes) {
        return new LoggedLines(List.of(classes).stream()
                .map(type -> (Logger) LoggerFactory.getLogger(type))
                .toList());
    }

    List<String> lines() {
        return lines;
    }

    List<String> linesWith(String text) {
        return lines.stream().filter(line -> line.contains(text)).toList();
    }

    @Override
    public void close() {
        loggers.forEach(logger -> logger.detachAppender(appender));
    }
}
