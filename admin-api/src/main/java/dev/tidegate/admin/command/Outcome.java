package dev.tidegate.admin.command;

import dev.tidegate.admin.view.ChangeView;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.ProblemView;
import java.util.List;

/** How a write came out. Immutable. */
public sealed interface Outcome {
    /** Why a write was refused. Nothing was changed then. */
    enum Why {
        /** There is no such thing. */
        NOT_FOUND,
        /** It does not go with what is there: a name taken, the last endpoint, an address in use. */
        CONFLICT,
        /** The generation in force is not the one that the asker has seen. */
        STALE,
        /** A value cannot be taken; the problems say which. */
        INVALID,
        /** Not now: starting or stopping. */
        UNAVAILABLE
    }

    /**
     * It is done.
     *
     * @param generation in force now
     * @param changes what it changed; empty when it was so already
     * @param body the view of the thing as it is now; null for none
     */
    record Done(long generation, List<ChangeView> changes, Object body) implements Outcome {}

    /**
     * It has begun, and can be watched. What it promises at once (no new picks) holds already.
     *
     * @param generation in force now
     * @param changes what it changed
     * @param operation its progress so far
     */
    record Started(long generation, List<ChangeView> changes, OperationView operation) implements Outcome {}

    /**
     * A reload's diff, applied; or, of a dry run, what any write would change.
     *
     * @param diff what
     */
    record Compared(DiffView diff) implements Outcome {}

    /**
     * It was refused.
     *
     * @param why the kind
     * @param detail for the operator: names the thing, its value, and what would be right
     * @param problems of a configuration or of values; may be empty
     */
    record Refused(Why why, String detail, List<ProblemView> problems) implements Outcome {}
}
