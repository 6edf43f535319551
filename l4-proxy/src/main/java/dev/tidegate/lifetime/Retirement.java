package dev.tidegate.lifetime;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * What one connection is retired by: any number of orders, each with a time from which on it may end and a time when it
 * must. The first one given is the reason, among those that have begun; the earliest hard limit holds. An order that is
 * taken back leaves nothing behind.
 *
 * <p>Confined to the connection's worker.
 */
final class Retirement {
    /** No limit: about 146 years, so that adding it to a time does not overflow. */
    static final long NEVER = Long.MAX_VALUE / 2;

    /** One order, as it holds for this connection; a limited one has a hard limit. */
    private record Mark(RetireOrder order, long givenNanos, long startNanos, long hardNanos) {
        boolean limited() {
            return windowNanos() < NEVER / 2;
        }

        long windowNanos() {
            return hardNanos - givenNanos;
        }
    }

    private final List<Mark> marks = new ArrayList<>(1);

    /**
     * Adds an order, and counts the connection in. One that it has already is replaced, and stays where it was; if it has
     * begun, it goes on, since the client may have been told for its sake.
     *
     * @param startNanos from when on it may end; {@link #NEVER} from now to wait for the hard limit alone
     * @param hardNanos when it ends, whatever it does then; {@link #NEVER} from now for no limit
     * @param nowNanos the time now
     */
    void add(RetireOrder order, long startNanos, long hardNanos, long nowNanos) {
        int at = indexOf(order);
        if (at >= 0) {
            long before = marks.get(at).startNanos();
            long start = nowNanos - before >= 0 ? before : startNanos;
            marks.set(at, new Mark(order, nowNanos, start, hardNanos));
        } else {
            marks.add(new Mark(order, nowNanos, startNanos, hardNanos));
            order.join();
        }
    }

    /** Takes an order back, and counts the connection out. Answers whether it had it. */
    boolean remove(RetireOrder order) {
        int at = indexOf(order);
        if (at < 0) {
            return false;
        }
        marks.remove(at);
        order.leave();
        return true;
    }

    /** Keeps an order, but not its hard limit: it was taken back when the client had been told already. */
    void unlimit(RetireOrder order) {
        int at = indexOf(order);
        if (at >= 0) {
            Mark mark = marks.get(at);
            marks.set(at, new Mark(order, mark.givenNanos(), mark.startNanos(), mark.givenNanos() + NEVER));
        }
    }

    /**
     * Has the hard limit of an order, if it is there, come that long after its start.
     *
     * @param overdueNanos when it comes if it should have come by now, unless it was to come before that anyway: a time of
     *     the connection's own, so that not all whose grace was made shorter are cut at once
     */
    void regrace(RetireOrder order, long graceNanos, long overdueNanos, long nowNanos) {
        int at = indexOf(order);
        if (at >= 0) {
            Mark mark = marks.get(at);
            long hard = mark.startNanos() + graceNanos;
            if (nowNanos - hard >= 0) {
                hard = mark.hardNanos() - overdueNanos < 0 ? mark.hardNanos() : overdueNanos;
            }
            marks.set(at, new Mark(order, mark.givenNanos(), mark.startNanos(), hard));
        }
    }

    /** Has all hard limits come by that time. */
    void hurry(long whenNanos) {
        for (int i = 0; i < marks.size(); i++) {
            Mark mark = marks.get(i);
            if (whenNanos - mark.hardNanos() < 0) {
                marks.set(i, new Mark(mark.order(), mark.givenNanos(), mark.startNanos(), whenNanos));
            }
        }
    }

    /** Takes those back that do not hold on the endpoint that the connection has come to. */
    void arriveAt(EndpointCell endpoint) {
        for (int i = marks.size() - 1; i >= 0; i--) {
            RetireOrder order = marks.get(i).order();
            if (!order.covers(endpoint)) {
                marks.remove(i);
                order.leave();
            }
        }
    }

    /** Whether it has that order. */
    boolean has(RetireOrder order) {
        return indexOf(order) >= 0;
    }

    /** Whether there is no order left. */
    boolean isEmpty() {
        return marks.isEmpty();
    }

    /** Whether it may end now, at a moment that hurts nobody. */
    boolean begun(long nowNanos) {
        return first(nowNanos) != null;
    }

    /**
     * What it ends for, if it ends now.
     *
     * @return null when no order has begun
     */
    CloseReason reason(long nowNanos) {
        Mark first = first(nowNanos);
        return first == null ? null : first.order().reason();
    }

    private Mark first(long nowNanos) {
        for (Mark mark : marks) {
            if (nowNanos - mark.startNanos() >= 0 || nowNanos - mark.hardNanos() >= 0) {
                return mark;
            }
        }
        return null;
    }

    /** Whether it has a hard limit. */
    boolean limited() {
        for (Mark mark : marks) {
            if (mark.limited()) {
                return true;
            }
        }
        return false;
    }

    /** The earliest start. Only when there is an order. */
    long startNanos() {
        long start = marks.get(0).startNanos();
        for (Mark mark : marks) {
            start = mark.startNanos() - start < 0 ? mark.startNanos() : start;
        }
        return start;
    }

    /** The earliest hard limit. Only when there is an order. */
    long hardNanos() {
        long hard = marks.get(0).hardNanos();
        for (Mark mark : marks) {
            hard = mark.hardNanos() - hard < 0 ? mark.hardNanos() : hard;
        }
        return hard;
    }

    /**
     * How long the order with the earliest hard limit gives in all, from when it was given. (A start that was drawn late
     * makes no moment quieter.) Only when there is an order.
     */
    long windowNanos() {
        Mark first = marks.get(0);
        for (Mark mark : marks) {
            first = mark.hardNanos() - first.hardNanos() < 0 ? mark : first;
        }
        return first.windowNanos();
    }

    /**
     * Counts the connection out of all: it has ended.
     *
     * @param reason what it ended for
     * @param how it was retired; null when it ended otherwise
     */
    void ended(CloseReason reason, RetireHow how) {
        boolean counted = false;
        for (Mark mark : marks) {
            boolean mine = !counted && how != null && mark.order().reason() == reason;
            mark.order().ended(mine ? how : null);
            counted |= mine;
        }
        marks.clear();
    }

    private int indexOf(RetireOrder order) {
        for (int i = 0; i < marks.size(); i++) {
            if (marks.get(i).order() == order) {
                return i;
            }
        }
        return -1;
    }
}
