package dev.tidegate.dial;

import java.util.random.RandomGenerator;

/**
 * The pause before the next attempt: short when it goes to an endpoint not tried yet, longer when it goes to one that has
 * just failed; doubling either way, and drawn from half to one and a half of that, so that many connections whose endpoint
 * died at one moment do not come back at one moment.
 *
 * <p>Pure; any thread.
 */
final class Backoff {
    private static final long FRESH_NANOS = 5_000_000;
    private static final long AGAIN_NANOS = 50_000_000;
    private static final int MAX_DOUBLINGS = 6;

    private Backoff() {}

    /**
     * @param failed attempts made so far, 1 or more
     * @param again whether every candidate was tried already
     */
    static long nanos(int failed, boolean again, RandomGenerator random) {
        long base = (again ? AGAIN_NANOS : FRESH_NANOS) << Math.min(failed - 1, MAX_DOUBLINGS);
        return base / 2 + random.nextLong(base + 1);
    }
}
