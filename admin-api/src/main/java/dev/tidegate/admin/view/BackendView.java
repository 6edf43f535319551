package dev.tidegate.admin.view;

import java.util.List;

/**
 * A backend with its endpoints.
 *
 * @param name unique among backends
 * @param balance the policy's word
 * @param state {@code ready} or, when all endpoints are draining, {@code draining}
 * @param pickable how many endpoints a pick may choose now
 * @param panic whether too few endpoints are fit
 * @param spreading whether endpoints that are not fit get connections too, because of that
 * @param inFlight connections on all endpoints
 * @param retries attempts after a connection's first
 * @param budgetExhausted attempts that were not made, since the retry budget was spent
 * @param endpoints in the order of the configuration
 */
public record BackendView(
        String name,
        String balance,
        String state,
        int pickable,
        boolean panic,
        boolean spreading,
        int inFlight,
        long retries,
        long budgetExhausted,
        List<EndpointView> endpoints) {}
