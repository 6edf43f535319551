package dev.tidegate.proxy;

import dev.tidegate.testkit.Script;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What a script waits at until the test opens it. Any thread. */
final class Gate {
    private static final long BOUND_SECONDS = 60;

    private final CountDownLatch opened = new CountDownLatch(1);

    void open() {
        opened.countDown();
    }

    /** Waits until it is open. */
    void pass() {
        try {
            if (!opened.await(BOUND_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the test did not open the gate within " + BOUND_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The same as a step of a script. */
    Script step() {
        return connection -> pass();
    }
}
