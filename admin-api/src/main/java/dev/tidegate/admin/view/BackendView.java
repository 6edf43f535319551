package dev.tidegate.admin.view;

import java.util.List;

/**
 * A backend with its endpoints.
 *
 * @param name unique among backends
 * @param balance the policy's word
 * @param state {@code ready} or, when all endpoints are draining, {@code draining}
 * @param pickable how many endpoints a pick may choose now
 * @param inFlight connections on all endpoints
 * @param retries attempts after a connection's first
 * @param endpoints in the order of the configuration
 */
public record BackendView(
        String name,
        String balance,
        String state,
        int pickable,
        int inFlight,
        long retries,
        List<EndpointView> endpoints) {}
