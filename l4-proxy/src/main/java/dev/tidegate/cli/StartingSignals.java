package dev.tidegate.cli;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What signals do from the first moment on. Until the process is up, requests to stop or to reload are remembered and USR1
 * does nothing: left to the JVM, each of them would end a process that is about to start.
 *
 * <p>Any thread; guarded by its monitor.
 */
final class StartingSignals {
    private static final Logger log = LoggerFactory.getLogger(StartingSignals.class);

    /**
     * What they do once the process is up. None of them waits.
     *
     * @param term stops gracefully, and at once when called again
     * @param interrupt stops at once
     * @param hangUp reads the configuration again
     * @param reopen opens logs anew
     */
    record Actions(Runnable term, Runnable interrupt, Runnable hangUp, Runnable reopen) {}

    private Actions actions; // null until the process is up
    private int terms;
    private boolean interrupted;
    private boolean hungUp;

    /** The process is up: does what was asked for while it started, and from now on what is asked for. */
    synchronized void up(Actions now) {
        actions = now;
        if (hungUp) {
            now.hangUp().run();
        }
        for (int i = 0; i < terms; i++) {
            now.term().run();
        }
        if (interrupted) {
            now.interrupt().run();
        }
    }

    synchronized void term() {
        if (actions != null) {
            actions.term().run();
        } else {
            terms++;
            log.info("TERM remembered: the process is starting, and stops when it is up");
        }
    }

    synchronized void interrupt() {
        if (actions != null) {
            actions.interrupt().run();
        } else {
            interrupted = true;
            log.info("INT remembered: the process is starting, and stops when it is up");
        }
    }

    synchronized void hangUp() {
        if (actions != null) {
            actions.hangUp().run();
        } else {
            hungUp = true; // the file was perhaps read before it changed
            log.info("HUP remembered: the process is starting, and reads the configuration again when it is up");
        }
    }

    synchronized void reopen() {
        if (actions != null) {
            actions.reopen().run();
        } else {
            log.info("USR1 ignored: the process is starting");
        }
    }
}
