package dev.tidegate.telemetry;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What a class logs while this is open. */
public final class LogLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final Logger logger;

    LogLines(Class<?> of) {
        this(of.getName());
    }

    /** By its name, for a class that cannot be seen from the test. */
    public LogLines(String className) {
        logger = (Logger) LoggerFactory.getLogger(className);
        logger.addAppender(this);
        start();
    }

    @Override
    protected void append(ILoggingEvent event) {
        events.add(event);
    }

    List<ILoggingEvent> events() {
        return events;
    }

    /** Without level and time. */
    public List<String> messages() {
        return events.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Override
    public void close() {
        logger.detachAppender(this);
    }
}
