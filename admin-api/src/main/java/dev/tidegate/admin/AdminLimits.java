package dev.tidegate.admin;

import java.time.Duration;

/**
 * What one client, or all together, may take of the admin server. Immutable.
 *
 * @param connections open at a time, over all UNIX sockets, and again over all TCP listeners
 * @param reserved connections beyond those, that are asked for {@code /livez} alone and have a second for it
 * @param headerBytes of a request's header section
 * @param bodyBytes of a request's body
 * @param requestTime from accept or the first byte until the request is complete, and again until the answer is taken
 * @param idleTime between an answer and the next request
 * @param lingerTime for a client to take an answer after which the connection closes
 * @param requestsPerSecond of one client
 * @param burst requests of one client at once, after a pause
 * @param streams followers of events at a time
 * @param heartbeat between signs of life on a stream of events
 * @param streamBytes waiting to be taken by one follower
 */
record AdminLimits(
        int connections,
        int reserved,
        int headerBytes,
        int bodyBytes,
        Duration requestTime,
        Duration idleTime,
        Duration lingerTime,
        int requestsPerSecond,
        int burst,
        int streams,
        Duration heartbeat,
        int streamBytes) {
    static final AdminLimits STANDARD = new AdminLimits(
            64,
            8,
            8 * 1024,
            1024 * 1024,
            Duration.ofSeconds(10),
            Duration.ofSeconds(60),
            Duration.ofSeconds(2),
            50,
            100,
            16,
            Duration.ofSeconds(15),
            1024 * 1024);

    private static final Duration RESERVED_TIME = Duration.ofSeconds(1);

    /** For a connection beyond the ordinary ones. */
    AdminLimits forReserved() {
        Duration time = requestTime.compareTo(RESERVED_TIME) < 0 ? requestTime : RESERVED_TIME;
        return withTimes(time, time, lingerTime.compareTo(time) < 0 ? lingerTime : time);
    }

    AdminLimits withRequestTime(Duration time) {
        return withTimes(time, idleTime, lingerTime);
    }

    AdminLimits withIdleTime(Duration time) {
        return withTimes(requestTime, time, lingerTime);
    }

    AdminLimits withLingerTime(Duration time) {
        return withTimes(requestTime, idleTime, time);
    }

    AdminLimits withRate(int perSecond, int atOnce) {
        return new AdminLimits(
                connections,
                reserved,
                headerBytes,
                bodyBytes,
                requestTime,
                idleTime,
                lingerTime,
                perSecond,
                atOnce,
                streams,
                heartbeat,
                streamBytes);
    }

    AdminLimits withHeartbeat(Duration time) {
        return new AdminLimits(
                connections,
                reserved,
                headerBytes,
                bodyBytes,
                requestTime,
                idleTime,
                lingerTime,
                requestsPerSecond,
                burst,
                streams,
                time,
                streamBytes);
    }

    private AdminLimits withTimes(Duration request, Duration idle, Duration linger) {
        return new AdminLimits(
                connections,
                reserved,
                headerBytes,
                bodyBytes,
                request,
                idle,
                linger,
                requestsPerSecond,
                burst,
                streams,
                heartbeat,
                streamBytes);
    }
}
