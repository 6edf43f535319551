package dev.tidegate.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** What the log of a whole process is like, with the configuration that is shipped. */
final class ProcessLogTest {
    private static Process start(Class<?> main, String... options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return new ProcessBuilder(command).start();
    }

    /** Asks for the native transports. */
    static final class AsksForNativeTransports {
        private AsksForNativeTransports() {}

        public static void main(String[] arguments) {
            System.out.println("epoll=" + Epoll.isAvailable() + " io_uring=" + IoUring.isAvailable());
        }
    }

    // netty/netty#7319: a missing native library printed a stack trace.
    @Test
    void missingNativeLibrariesFrightenNobody() throws IOException, InterruptedException {
        Process process = start(AsksForNativeTransports.class, "-Dio.netty.transport.noNative=true");
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);

        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals("epoll=false io_uring=false\n", out);
        assertEquals("", err);
    }

    /** Logs more than a pipe and a queue hold, then says that it is through. */
    static final class LogsMuch {
        private LogsMuch() {}

        public static void main(String[] arguments) {
            Logger log = LoggerFactory.getLogger(LogsMuch.class);
            for (int i = 0; i < 20_000; i++) {
                log.info("line number={} of many that nobody reads", i);
            }
            System.out.println("through");
            System.exit(0);
        }
    }

    @Test
    @Tag("slow")
    void whoLogsDoesNotWaitForTheReaderOfStderr() throws IOException, InterruptedException {
        Process process = start(LogsMuch.class);
        // Nobody reads its stderr meanwhile.
        boolean ended = process.waitFor(30, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }

        assertTrue(ended);
        assertEquals("through\n", new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }

    /** Logs at three levels and stops. */
    static final class LogsLittle {
        private LogsLittle() {}

        public static void main(String[] arguments) {
            Logger log = LoggerFactory.getLogger(LogsLittle.class);
            log.debug("too fine");
            LogLevels.set(Level.DEBUG);
            log.debug("fine");
            LoggerFactory.getLogger("io.netty.some").info("not ours");
            LogLevels.set(Level.WARN);
            log.info("too coarse");
            log.warn("last words");
            System.exit(0);
        }
    }

    @Test
    void levelsAreOursAloneAndTheLastLineIsWritten() throws IOException, InterruptedException {
        Process process = start(LogsLittle.class);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);

        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        List<String> lines = err.lines().toList();
        assertEquals(2, lines.size(), err);
        assertTrue(lines.get(0).matches("\\d{4}-\\d\\d-\\d\\d .* DEBUG \\S*LogsLittle fine"), err);
        assertTrue(lines.get(1).endsWith("WARN ProcessLogTest$LogsLittle last words"), err);
        assertFalse(err.contains("too"), err);
    }
}
