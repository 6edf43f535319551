package dev.tidegate.telemetry;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.hook.DefaultShutdownHook;
import ch.qos.logback.core.spi.ContextAwareBase;
import org.slf4j.Logger;

/**
 * How the process logs: to stderr, by a queue. In code, since to read it from XML takes a tenth of the start. Found by
 * Logback as a service; a file that {@code -Dlogback.configurationFile} names takes its place.
 */
public final class LogSetup extends ContextAwareBase implements Configurator {
    private static final String ANOTHER = "logback.configurationFile";
    private static final String PATTERN = "%date %level %logger{0} %msg%n";
    private static final int QUEUED_MAX = 1_024;
    private static final int FLUSH_MILLIS_MAX = 1_000;

    /** For the service loader. */
    public LogSetup() {}

    @Override
    public ExecutionStatus configure(LoggerContext logging) {
        if (System.getProperty(ANOTHER) != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        PatternLayoutEncoder lines = new PatternLayoutEncoder();
        lines.setContext(logging);
        lines.setPattern(PATTERN);
        lines.start();
        ConsoleAppender<ILoggingEvent> stderr = new ConsoleAppender<>();
        stderr.setContext(logging);
        stderr.setName("stderr");
        stderr.setTarget("System.err");
        stderr.setEncoder(lines);
        stderr.start();
        // A worker that logs must not wait for whoever reads stderr: a full queue loses lines instead.
        AsyncAppender queue = new AsyncAppender();
        queue.setContext(logging);
        queue.setName("queue");
        queue.setQueueSize(QUEUED_MAX);
        queue.setDiscardingThreshold(0);
        queue.setNeverBlock(true);
        queue.setMaxFlushTime(FLUSH_MILLIS_MAX);
        queue.addAppender(stderr);
        queue.start();
        logging.getLogger("dev.tidegate").setLevel(Level.INFO);
        logging.getLogger("io.netty").setLevel(Level.WARN);
        logging.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
        logging.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(queue);
        endInOrder(logging);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Ends the queue when the process exits, so that the last lines before are written. */
    private static void endInOrder(LoggerContext logging) {
        DefaultShutdownHook hook = new DefaultShutdownHook();
        hook.setContext(logging);
        Runtime.getRuntime().addShutdownHook(new Thread(hook, "tidegate-log-end"));
    }
}
