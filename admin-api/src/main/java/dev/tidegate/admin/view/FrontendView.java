package dev.tidegate.admin.view;

import java.util.List;
import java.util.Map;

/**
 * A frontend.
 *
 * @param name unique among frontends
 * @param state {@code ready} or {@code draining}
 * @param backend where its connections go
 * @param listeners its sockets
 * @param protocol the configured word
 * @param maxConnections the most at a time
 * @param lifetime how long connections may live, as configured
 * @param connections open now, lingering ones included
 * @param accepted in all
 * @param requests begun, by the protocol that was recognised
 * @param receivedBytes from clients
 * @param sentBytes to clients
 * @param closed ends by reason; reasons that never came are left out
 * @param retired of those, what Tidegate itself brought to an end, by how
 * @param drain the id of the drain under way; null for none
 */
public record FrontendView(
        String name,
        String state,
        String backend,
        List<ListenerView> listeners,
        String protocol,
        int maxConnections,
        LifetimeView lifetime,
        int connections,
        long accepted,
        Map<String, Long> requests,
        long receivedBytes,
        long sentBytes,
        Map<String, Long> closed,
        Map<String, Long> retired,
        @MayBeNull String drain) {}
