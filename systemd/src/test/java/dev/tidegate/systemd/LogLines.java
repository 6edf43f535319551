package dev.tidegate.systemd;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** The lines at level INFO and above that the module logs while it is open. */
final class LogLines implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.tidegate.systemd");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    LogLines() {
        lines.start();
        logger.addAppender(lines);
    }

    List<String> all() {
        return List.copyOf(lines.list).stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.INFO))
                .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(lines);
    }
}
