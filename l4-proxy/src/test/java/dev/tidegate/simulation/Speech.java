package dev.tidegate.simulation;

/** What a client speaks. Its first bytes say so, to the balancer and to the endpoint. */
enum Speech {
    /** A protocol that the balancer does not know. */
    OPAQUE,
    /** HTTP/1.1 that keeps its connection. */
    HTTP1,
    /** HTTP/2 in the clear, by prior knowledge. */
    HTTP2
}
