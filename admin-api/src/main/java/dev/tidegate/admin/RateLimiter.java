package dev.tidegate.admin;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How many requests each client may make: a bucket per client that fills at a steady rate. Remembers the clients that
 * asked last, so many at most; whoever is forgotten begins with a full bucket. Confined to the admin loop.
 */
final class RateLimiter {
    private static final int CLIENTS_MAX = 1024;
    private static final int REST_LEAST_MILLIS = 150;
    private static final int REST_RANGE_MILLIS = 200;
    /** Has no divisor in common with the range; twenty that follow one another lie 5 ms apart or more. */
    private static final int REST_STEP_MILLIS = 79;

    private final long nanosPerRequest;
    private final long burstNanos;
    private int restMillis;
    /** By client, the time at which its bucket will be full again. */
    private final Map<Object, Long> fullAtNanos = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Long> eldest) {
            return size() > CLIENTS_MAX;
        }
    };

    RateLimiter(int perSecond, int burst) {
        this.nanosPerRequest = TimeUnit.SECONDS.toNanos(1) / perSecond;
        this.burstNanos = nanosPerRequest * burst;
    }

    /**
     * Takes one request from a client's bucket.
     *
     * @return 0 when it may pass; otherwise how long until it may, and nothing is taken
     */
    long tryTake(Object client, long nowNanos) {
        Long known = fullAtNanos.get(client);
        long from = known == null || known - nowNanos < 0 ? nowNanos : known;
        long until = from + nanosPerRequest;
        long tooFar = until - nowNanos - burstNanos;
        if (tooFar > 0) {
            return tooFar;
        }
        fullAtNanos.put(client, until);
        return 0;
    }

    /**
     * How long a connection that has asked too often is not heard: a flood on a few connections costs next to nothing then.
     * Far below what they are told to wait, so that one who does so notices nothing. Each time another length from 150 to 349
     * milliseconds, so that those who were refused together do not come back together: what the loop does in one go, a worker
     * on the same core waits for.
     */
    int restMillis() {
        restMillis = (restMillis + REST_STEP_MILLIS) % REST_RANGE_MILLIS;
        return REST_LEAST_MILLIS + restMillis;
    }
}
