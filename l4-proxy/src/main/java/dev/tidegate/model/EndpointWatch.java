package dev.tidegate.model;

/**
 * Is told by workers how connections to the endpoints of one backend fare. Any thread; must not block, and costs next to
 * nothing while all is well.
 */
public interface EndpointWatch {
    /** What {@link #firstByteNanos} says when an answer may take any time. */
    long ANY_TIME = 0;

    /** Cares for nothing. */
    EndpointWatch NONE = new EndpointWatch() {
        @Override
        public void onConnected(EndpointCell endpoint) {}

        @Override
        public void onAnswered(EndpointCell endpoint) {}

        @Override
        public void onFailure(EndpointCell endpoint, Failure failure) {}
    };

    /** A connect came through. */
    void onConnected(EndpointCell endpoint);

    /** An endpoint has begun to answer a client, or has at least borne with a connection for a while. */
    void onAnswered(EndpointCell endpoint);

    /** Something speaks against an endpoint. */
    void onFailure(EndpointCell endpoint, Failure failure);

    /** How long an endpoint may take to begin its first answer, in nanoseconds; {@link #ANY_TIME} for no limit. */
    default long firstByteNanos() {
        return ANY_TIME;
    }

    /** Whether failed connects open breakers. If not, nobody hears of a failed trial, and it is to be given back. */
    default boolean opensBreakers() {
        return false;
    }
}
