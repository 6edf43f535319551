package dev.tidegate.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What signals do from the first moment on. While the configuration is read, requests to stop end the process; while it
 * starts, they are remembered, as requests to reload are; USR1 does nothing until it is up: left to the JVM, each of them
 * would end a process that is about to start.
 *
 * <p>Any thread; guarded by its monitor.
 */
final class StartingSignals {
    /**
     * What they do once the process is up. None of them waits.
     *
     * @param term stops gracefully, and at once when called again
     * @param interrupt stops at once
     * @param hangUp reads the configuration again
     * @param reopen opens logs anew
     * @param upgrade has another process take over
     */
    record Actions(Runnable term, Runnable interrupt, Runnable hangUp, Runnable reopen, Runnable upgrade) {}

    private final Runnable exit;
    private Runnable hurry; // null until it begins to start
    private Actions actions; // null until the process is up
    private int terms;
    private boolean interrupted;
    private boolean hungUp;
    private boolean upgrade;

    /**
     * @param exit ends the process, of which nothing has been started
     */
    StartingSignals(Runnable exit) {
        this.exit = exit;
    }

    /**
     * From now on no signal is left to the JVM. To be called first of all: what loads the program takes long.
     *
     * @return the signals that cannot be handled, with commas
     */
    String handleAll() {
        Map<String, Runnable> doing = new LinkedHashMap<>();
        doing.put("TERM", this::term);
        doing.put("INT", this::interrupt);
        doing.put("HUP", this::hangUp);
        doing.put("USR1", this::reopen);
        if (Signals.isFree("USR2", System.getenv())) {
            doing.put("USR2", this::upgrade);
        }
        doing.entrySet().removeIf(action -> Signals.handle(action.getKey(), action.getValue()));
        return String.join(", ", doing.keySet());
    }

    /**
     * The configuration is valid, and the process begins to start: from now on there is something to stop in order.
     *
     * @param whenAskedToStop leaves out what a process need not do that is going to stop
     */
    synchronized void starting(Runnable whenAskedToStop) {
        hurry = whenAskedToStop;
    }

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
        if (upgrade) {
            now.upgrade().run();
        }
    }

    synchronized void term() {
        if (actions != null) {
            actions.term().run();
        } else if (hurry == null) {
            exit.run();
        } else {
            terms++;
            hurry.run();
            log().info("TERM remembered: the process is starting, and stops when it is up");
        }
    }

    synchronized void interrupt() {
        if (actions != null) {
            actions.interrupt().run();
        } else if (hurry == null) {
            exit.run();
        } else {
            interrupted = true;
            hurry.run();
            log().info("INT remembered: the process is starting, and stops when it is up");
        }
    }

    synchronized void hangUp() {
        if (actions != null) {
            actions.hangUp().run();
        } else {
            hungUp = true; // the file was perhaps read before it changed
            log().info("HUP remembered: the process is starting, and reads the configuration again when it is up");
        }
    }

    synchronized void reopen() {
        if (actions != null) {
            actions.reopen().run();
        } else {
            log().info("USR1 ignored: the process is starting");
        }
    }

    synchronized void upgrade() {
        if (actions != null) {
            actions.upgrade().run();
        } else {
            upgrade = true;
            log().info("USR2 remembered: the process is starting, and is upgraded when it is up");
        }
    }

    /** Not a constant: to set logging up takes longer than all that comes before it. */
    private static Logger log() {
        return LoggerFactory.getLogger(StartingSignals.class);
    }
}
