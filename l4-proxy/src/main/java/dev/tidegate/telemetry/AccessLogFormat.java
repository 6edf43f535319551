package dev.tidegate.telemetry;

/** How a line of the access log is laid out. Immutable. */
public enum AccessLogFormat {
    /** One JSON object a line. */
    JSON {
        @Override
        LineFormat lines() {
            return new JsonLineFormat();
        }
    },
    /** As HAProxy's {@code option tcplog} lays it out. */
    HAPROXY {
        @Override
        LineFormat lines() {
            return new HaproxyLineFormat();
        }
    };

    abstract LineFormat lines();
}
