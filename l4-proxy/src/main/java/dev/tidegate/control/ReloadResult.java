package dev.tidegate.control;

import dev.tidegate.telemetry.ReloadCounts;

/**
 * How a reload came out. Immutable.
 *
 * @param result applied, unchanged or rejected
 * @param generation of the configuration in force after it
 * @param diff what differs between what was in force and what was asked for; empty when rejected
 * @param reason one line that says why it was rejected; empty otherwise
 * @param stale rejected for no fault of its own: another generation was in force than it was asked for
 */
public record ReloadResult(ReloadCounts.Result result, long generation, ConfigDiff diff, String reason, boolean stale) {
    static ReloadResult applied(long generation, ConfigDiff diff) {
        return new ReloadResult(ReloadCounts.Result.APPLIED, generation, diff, "", false);
    }

    static ReloadResult unchanged(long generation, ConfigDiff diff) {
        return new ReloadResult(ReloadCounts.Result.UNCHANGED, generation, diff, "", false);
    }

    static ReloadResult rejected(long generation, String reason) {
        return new ReloadResult(ReloadCounts.Result.REJECTED, generation, ConfigDiff.NONE, reason, false);
    }

    static ReloadResult stale(long generation, long wanted) {
        return new ReloadResult(
                ReloadCounts.Result.REJECTED, generation, ConfigDiff.NONE, staleReason(generation, wanted), true);
    }

    /** Why a write is refused that was decided on while another generation was in force. */
    static String staleReason(long generation, long wanted) {
        return "the generation in force is " + generation + ", not " + wanted + "; look again, and decide again";
    }
}
