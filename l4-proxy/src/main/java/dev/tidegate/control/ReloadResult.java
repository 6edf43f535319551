package dev.tidegate.control;

import dev.tidegate.telemetry.ReloadCounts;

/**
 * How a reload came out. Immutable.
 *
 * @param result applied, unchanged or rejected
 * @param generation of the configuration in force after it
 * @param diff what differs between what was in force and what was asked for; empty when rejected
 * @param reason one line that says why it was rejected; empty otherwise
 */
public record ReloadResult(ReloadCounts.Result result, long generation, ConfigDiff diff, String reason) {
    static ReloadResult applied(long generation, ConfigDiff diff) {
        return new ReloadResult(ReloadCounts.Result.APPLIED, generation, diff, "");
    }

    static ReloadResult unchanged(long generation, ConfigDiff diff) {
        return new ReloadResult(ReloadCounts.Result.UNCHANGED, generation, diff, "");
    }

    static ReloadResult rejected(long generation, String reason) {
        return new ReloadResult(ReloadCounts.Result.REJECTED, generation, ConfigDiff.NONE, reason);
    }
}
