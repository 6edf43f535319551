package dev.tidegate.model;

import java.util.List;

/**
 * What clients connect to, as one snapshot sees it. Immutable, save for its cell.
 *
 * @param name unique among frontends
 * @param listen the addresses as configured, in canonical form
 * @param backend where its connections go
 * @param protocol what is looked for in its connections' bytes
 * @param maxConnections the most at a time
 * @param timeouts what silence they may keep
 * @param lifetime how long they may live, and how they end
 * @param cell what outlives the snapshot
 */
public record Frontend(
        String name,
        List<String> listen,
        Backend backend,
        ProtocolChoice protocol,
        int maxConnections,
        Timeouts timeouts,
        Lifetime lifetime,
        FrontendCell cell) {
    /** Copies the list. */
    public Frontend {
        listen = List.copyOf(listen);
    }
}
