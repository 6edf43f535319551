package dev.tidegate.admin;

import java.time.Duration;

/**
 * What one client, or all together, may take of the admin server. Immutable.
 *
 * @param connections open at a time, over all listeners
 * @param headerBytes of a request's header section
 * @param bodyBytes of a request's body
 * @param requestTime from accept or the first byte until the request is complete, and again until the answer is taken
 * @param idleTime between an answer and the next request
 * @param lingerTime for a client to take an answer after which the connection closes
 */
record AdminLimits(
        int connections, int headerBytes, int bodyBytes, Duration requestTime, Duration idleTime, Duration lingerTime) {
    static final AdminLimits STANDARD = new AdminLimits(
            64, 8 * 1024, 1024 * 1024, Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(2));

    AdminLimits withRequestTime(Duration time) {
        return new AdminLimits(connections, headerBytes, bodyBytes, time, idleTime, lingerTime);
    }

    AdminLimits withIdleTime(Duration time) {
        return new AdminLimits(connections, headerBytes, bodyBytes, requestTime, time, lingerTime);
    }
}
