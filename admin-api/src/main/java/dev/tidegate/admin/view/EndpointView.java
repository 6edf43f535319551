package dev.tidegate.admin.view;

import java.util.List;
import java.util.Map;

/**
 * An endpoint.
 *
 * @param name unique in its backend
 * @param backend its backend's name
 * @param address as configured
 * @param addresses what it resolves to now
 * @param source {@code config} or {@code runtime}
 * @param state the administrative word: {@code ready}, {@code draining} or {@code disabled}
 * @param up the word of health checks; true without any
 * @param pickable whether a pick may choose it now, were its backend not in panic
 * @param reason why it is not pickable, in words; null when it is
 * @param weight configured, runtime and effective
 * @param share its part of its weight and of its limit, in percent: below 100 during a slow start
 * @param maxConnections null for no limit
 * @param inFlight connections admitted and not released, connects under way included
 * @param picks times it was chosen
 * @param connects attempts to connect, by result
 * @param failures what speaks against it, counted since the process began, by kind
 * @param health what checks say; null without any
 * @param ejection null when it is not ejected
 * @param breaker null when it has none
 * @param drain the id of the drain under way; null for none
 */
public record EndpointView(
        String name,
        String backend,
        String address,
        List<String> addresses,
        String source,
        String state,
        boolean up,
        boolean pickable,
        @MayBeNull String reason,
        WeightView weight,
        double share,
        @MayBeNull Integer maxConnections,
        int inFlight,
        long picks,
        Map<String, Long> connects,
        Map<String, Long> failures,
        @MayBeNull HealthView health,
        @MayBeNull EjectionView ejection,
        @MayBeNull BreakerView breaker,
        @MayBeNull String drain) {}
