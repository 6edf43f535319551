package dev.tidegate.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class QuietThreadsTest {
    private final Logger log = (Logger) LoggerFactory.getLogger("dev.tidegate.quiet");
    private final ListAppender<ILoggingEvent> said = new ListAppender<>();

    @BeforeEach
    void listen() {
        said.start();
        log.setLevel(Level.DEBUG);
        log.setAdditive(false); // an error is part of the test
        log.addAppender(said);
    }

    @AfterEach
    void leave() {
        log.detachAppender(said);
        log.setAdditive(true);
        log.setLevel(null);
    }

    @Test
    void threadsOfTheGroupAreHeardOnlyWithErrorsWhileItIsOpen() throws InterruptedException {
        ThreadGroup group = new ThreadGroup("quiet");
        ThreadGroup below = new ThreadGroup(group, "below");
        QuietThreads quiet = new QuietThreads(group);
        in(group, () -> log.info("of the group"));
        in(below, () -> log.warn("of a group below"));
        in(group, () -> log.error("an error"));
        log.debug("of another");
        quiet.end();
        in(group, () -> log.info("when it has ended"));

        assertEquals(
                List.of("an error", "of another", "when it has ended"),
                said.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
    }

    private static void in(ThreadGroup group, Runnable what) throws InterruptedException {
        Thread thread = new Thread(group, what, "speaker");
        thread.start();
        thread.join();
    }
}
