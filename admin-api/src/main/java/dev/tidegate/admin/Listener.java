package dev.tidegate.admin;

/**
 * What the connections of one listener have in common. Immutable; what it holds is confined to the admin loop.
 *
 * @param check what a request must be like
 * @param gate what callers are taken for
 * @param dispatcher what answers
 * @param events what tells events
 * @param rates how many requests a client may make
 * @param audit the operator's log
 */
record Listener(
        RequestCheck check, Gate gate, Dispatcher dispatcher, EventHub events, RateLimiter rates, Audit audit) {}
