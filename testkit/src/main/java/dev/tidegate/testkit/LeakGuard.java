package dev.tidegate.testkit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.LoggerContextListener;
import ch.qos.logback.core.AppenderBase;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Catches what nobody would look at: Netty's leak reports, exceptions that no handler took, threads that died of one.
 *
 * <p>Listens to the loggers {@code io.netty} and {@code dev.tidegate} for every LEAK line, for each ERROR, and for a WARN
 * that brings an exception from Netty or speaks of an uncaught or unhandled one; and to uncaught exceptions of any thread.
 * One for the JVM: tests that use it must not run at the same time in one JVM.
 *
 * <pre>{@code
 * LeakGuard guard = LeakGuard.installed();
 * …
 * guard.provokeLeakReports();
 * assertEquals(List.of(), guard.drain());
 * }</pre>
 */
public final class LeakGuard {
    private static final LeakGuard INSTANCE = new LeakGuard();
    private static final List<String> LOGGERS = List.of("io.netty", "dev.tidegate");
    private static final Pattern NOBODY_TOOK_IT = Pattern.compile("exceptioncaught|uncaught|unhandled");
    private static final long COLLECT_BOUND_MILLIS = 2_000;

    private final Queue<String> caught = new ConcurrentLinkedQueue<>();
    private final Queue<Pattern> expected = new ConcurrentLinkedQueue<>();
    private final Catcher catcher = new Catcher();
    private boolean installed;

    private LeakGuard() {}

    /** The guard, listening from now on; leak detection is set to paranoid. */
    public static LeakGuard installed() {
        INSTANCE.install();
        return INSTANCE;
    }

    private synchronized void install() {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        if (!installed) {
            installed = true;
            ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
            Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
            Thread.setDefaultUncaughtExceptionHandler((thread, fault) -> onUncaught(thread, fault, before));
            catcher.setContext(context);
            catcher.start();
            context.addListener(new Reattach());
        }
        attach(context);
    }

    private void attach(LoggerContext context) {
        catcher.start();
        for (String name : LOGGERS) {
            Logger logger = context.getLogger(name);
            if (!logger.isAttached(catcher)) {
                logger.addAppender(catcher);
            }
        }
    }

    /** From now until {@link #forgetExpected()}, what matches {@code regex} somewhere in its text is not held against the test. */
    public void expect(String regex) {
        expected.add(Pattern.compile(regex));
    }

    /** Takes back every {@link #expect}. */
    public void forgetExpected() {
        expected.clear();
    }

    /** What was caught and not expected, oldest first; forgets it. */
    public List<String> drain() {
        List<String> out = new ArrayList<>();
        for (String next = caught.poll(); next != null; next = caught.poll()) {
            out.add(next);
        }
        out.removeIf(this::isExpected);
        return out;
    }

    private boolean isExpected(String text) {
        return expected.stream().anyMatch(pattern -> pattern.matcher(text).find());
    }

    /**
     * Makes Netty report what leaked until now. It reports a buffer that was collected unreleased when the next one is
     * made; so: collect, wait until the collector's queue was worked off, make one.
     *
     * <p>Two rounds, as the queue of one collection is known to be worked off only when something of the next one comes.
     */
    public void provokeLeakReports() {
        collect();
        collect();
        touch(ByteBufAllocator.DEFAULT);
        touch(PooledByteBufAllocator.DEFAULT);
    }

    private static void touch(ByteBufAllocator allocator) {
        allocator.directBuffer(16).release();
        allocator.heapBuffer(16).release();
    }

    private static void collect() {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> canary = new WeakReference<>(new Object(), queue);
        System.gc();
        try {
            if (queue.remove(COLLECT_BOUND_MILLIS) != canary) {
                throw new AssertionError("System.gc() collected nothing within " + COLLECT_BOUND_MILLIS
                        + " ms; leaks cannot be found: run tests without -XX:+DisableExplicitGC");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void onUncaught(Thread thread, Throwable fault, Thread.UncaughtExceptionHandler before) {
        caught.add("uncaught in thread " + thread.getName() + ": " + fault + at(fault.getStackTrace()));
        if (before != null) {
            before.uncaughtException(thread, fault);
        }
    }

    private static String at(StackTraceElement[] trace) {
        return trace.length == 0 ? "" : " at " + trace[0];
    }

    private static boolean isNews(ILoggingEvent event) {
        String message = event.getFormattedMessage();
        if (message.startsWith("LEAK:") || event.getLevel().isGreaterOrEqual(Level.ERROR)) {
            return true;
        }
        return event.getLevel() == Level.WARN
                && (NOBODY_TOOK_IT.matcher(message.toLowerCase(Locale.ROOT)).find()
                        || (event.getThrowableProxy() != null
                                && event.getLoggerName().startsWith("io.netty")));
    }

    private static String words(ILoggingEvent event) {
        IThrowableProxy fault = event.getThrowableProxy();
        String text = event.getLevel() + " " + event.getLoggerName() + ": " + event.getFormattedMessage();
        return fault == null ? text : text + " <- " + fault.getClassName() + ": " + fault.getMessage();
    }

    private final class Catcher extends AppenderBase<ILoggingEvent> {
        @Override
        protected void append(ILoggingEvent event) {
            if (isNews(event)) {
                caught.add(words(event));
            }
        }
    }

    /** Configuring the log anew throws every appender out; this one comes back. */
    private final class Reattach implements LoggerContextListener {
        @Override
        public boolean isResetResistant() {
            return true;
        }

        @Override
        public void onReset(LoggerContext context) {
            attach(context);
        }

        @Override
        public void onStart(LoggerContext context) {
            attach(context);
        }

        @Override
        public void onStop(LoggerContext context) {
            catcher.stop();
        }

        @Override
        public void onLevelChange(Logger logger, Level level) {
            // What is caught is WARN and above; who silences these silences the test, and says so in the log's
            // settings.
        }
    }
}
