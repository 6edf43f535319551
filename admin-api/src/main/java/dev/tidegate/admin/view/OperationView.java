package dev.tidegate.admin.view;

import java.time.Instant;

/**
 * The progress of something that takes time.
 *
 * @param id to ask for it by
 * @param kind {@code drain}, {@code remove}, {@code rebalance}, {@code close}, {@code down} or {@code shutdown}
 * @param target such as {@code backends/web/endpoints/a}
 * @param state {@code running}, {@code done} or {@code cancelled}
 * @param total connections it began with
 * @param remaining connections still there; once it was cancelled, those that it left alone then
 * @param retired connections that it has brought to an end without a cut
 * @param cut connections that it cut
 * @param ratePerSecond connections that left it of late, a second: over the last 10 s or so, or since it began; 0 once it has
 *     ended
 * @param oldestAgeMs age of the oldest connection that remains, in milliseconds; null with none
 * @param etaMs an estimate of the time until the last is gone, in milliseconds; null when nothing can be said
 * @param deadline when the last is cut; null: never
 * @param mode {@code wait}, {@code graceful} or {@code cut}; null for what has none
 * @param started when it began
 */
public record OperationView(
        String id,
        String kind,
        String target,
        String state,
        int total,
        int remaining,
        int retired,
        int cut,
        double ratePerSecond,
        @MayBeNull Long oldestAgeMs,
        @MayBeNull Long etaMs,
        @MayBeNull Instant deadline,
        @MayBeNull String mode,
        Instant started) {}
