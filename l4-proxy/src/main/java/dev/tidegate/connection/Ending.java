package dev.tidegate.connection;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FrontendRow;

/** What a connection ends for, decided once, and how hard it was on whom. Confined to the connection's worker. */
final class Ending {
    private CloseReason reason;
    private Side closedBy;
    private RetireHow how;
    private boolean cutMidExchange;

    /** The first reason wins. */
    void decide(CloseReason why, Side by) {
        reason = why;
        closedBy = by;
    }

    boolean decided() {
        return reason != null;
    }

    /** Null before it is decided. */
    CloseReason reason() {
        return reason;
    }

    /** The side that began the end; null when Tidegate did. */
    Side closedBy() {
        return closedBy;
    }

    /** Null when it was not retired. */
    RetireHow how() {
        return how;
    }

    /** It was retired, so. */
    void retired(RetireHow as) {
        how = as;
        cutMidExchange = as == RetireHow.CUT;
    }

    void count(FrontendRow row) {
        row.countClosed(reason);
        if (how != null) {
            row.countRetired(reason, how);
        }
        if (cutMidExchange) {
            row.cutMidExchange++;
        }
    }

    void tell(AccessRecord record) {
        record.closedBy = closedBy;
        record.reason = reason;
        record.how = how;
        record.cutMidExchange = cutMidExchange;
    }
}
