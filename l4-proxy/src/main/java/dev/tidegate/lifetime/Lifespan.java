package dev.tidegate.lifetime;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;

/**
 * How long one connection may live: its own limits of age, requests and bytes, and what others have ordered. Says when it is
 * to be looked at next, whether it is retiring, what for, until when, and how much silence may end it.
 *
 * <p>Age is drawn once, so that a limit that changes keeps its spread. Confined to the connection's worker. {@link #addBytes}
 * is called for every read.
 */
public final class Lifespan {
    /** No limit: about 146 years, so that adding it to a time does not overflow. */
    public static final long NEVER = Retirement.NEVER;

    private static final long SECOND = 1_000_000_000L;
    /** The least time over which connections that a changed limit finds overdue are spread. */
    private static final long OVERDUE_SPREAD_NANOS = 30 * SECOND;

    private final FrontendCell cell;
    private final long acceptedNanos;
    private final double draw;
    private Lifetime limits;
    private long softNanos; // UNLIMITED when age ends it not, or has retired it already
    private long requests;
    private long bytesToGo;
    private Retirement retirement; // null while nobody wants it to end

    /**
     * @param cell the frontend's
     * @param limits the frontend's
     * @param acceptedNanos when the connection was accepted
     * @param draw its place within the jitter, in [-1, 1)
     */
    public Lifespan(FrontendCell cell, Lifetime limits, long acceptedNanos, double draw) {
        this.cell = cell;
        this.limits = limits;
        this.acceptedNanos = acceptedNanos;
        this.draw = draw;
        this.softNanos = limits.softNanos(acceptedNanos, draw);
        this.bytesToGo = limits.maxBytes();
    }

    /** What holds for it now. */
    public Lifetime limits() {
        return limits;
    }

    /** How many requests it has carried. */
    public long requests() {
        return requests;
    }

    // ---- its own limits

    /** Retires it if its age has come. */
    public void lookAtAge(long nowNanos) {
        if (softNanos != Lifetime.UNLIMITED && nowNanos - softNanos >= 0) {
            long soft = softNanos;
            softNanos = Lifetime.UNLIMITED;
            limit(cell.ofAge(), soft, nowNanos);
        }
    }

    /** Counts a request. Answers whether it is the one that reaches the limit, so that the connection retires now. */
    public boolean addRequest(long nowNanos) {
        requests++;
        return requests >= limits.maxRequests() && limit(cell.ofRequests(), nowNanos, nowNanos);
    }

    /** Counts bytes. Answers whether these reach the limit, so that the connection retires now. Hot: once a read. */
    public boolean addBytes(int count, long nowNanos) {
        bytesToGo -= count;
        return bytesToGo <= 0 && limit(cell.ofBytes(), nowNanos, nowNanos);
    }

    private boolean limit(RetireOrder order, long startNanos, long nowNanos) {
        if (under(order)) {
            return false;
        }
        retire(order, startNanos, startNanos + limits.graceNanos(), nowNanos);
        return true;
    }

    /**
     * Other limits hold from now on. They count from when the connection was accepted, with the same draw; one that is found
     * overdue begins at a time of the connection's own, so that not all end at once.
     *
     * @param told whether the client knows already that the connection ends: then what retired it holds
     * @param chance in [0, 1)
     */
    public void relimit(Lifetime now, boolean told, double chance, long nowNanos) {
        Lifetime before = limits;
        limits = now;
        bytesToGo += now.maxBytes() - before.maxBytes();
        if (told) {
            return;
        }
        long spread = Math.max(OVERDUE_SPREAD_NANOS, now.graceNanos() / 2);
        long overdueNanos = nowNanos + (long) (chance * spread);
        if (before.maxAgeNanos() != now.maxAgeNanos() || before.jitter() != now.jitter()) {
            relimitAge(overdueNanos, nowNanos);
        }
        relimit(cell.ofRequests(), requests >= now.maxRequests(), overdueNanos, nowNanos);
        relimit(cell.ofBytes(), bytesToGo <= 0, overdueNanos, nowNanos);
        if (retirement != null && before.graceNanos() != now.graceNanos()) {
            retirement.regrace(cell.ofAge(), now.graceNanos(), overdueNanos, nowNanos);
            retirement.regrace(cell.ofRequests(), now.graceNanos(), overdueNanos, nowNanos);
            retirement.regrace(cell.ofBytes(), now.graceNanos(), overdueNanos, nowNanos);
        }
    }

    private void relimitAge(long overdueNanos, long nowNanos) {
        long soft = limits.softNanos(acceptedNanos, draw);
        boolean overdue = soft != Lifetime.UNLIMITED && nowNanos - soft >= 0;
        if (!overdue) {
            stay(cell.ofAge());
            softNanos = soft;
        } else if (!under(cell.ofAge())) {
            // One that was to come earlier still does: many changes put nobody off.
            boolean earlier = softNanos != Lifetime.UNLIMITED && softNanos - overdueNanos < 0;
            softNanos = earlier ? softNanos : overdueNanos;
        }
    }

    private void relimit(RetireOrder order, boolean reached, long overdueNanos, long nowNanos) {
        if (!reached) {
            stay(order);
        } else {
            limit(order, overdueNanos, nowNanos); // unless it holds already
        }
    }

    // ---- what others order

    /** Retires it by an order, beside what is ordered already. One that it has already is replaced. */
    public void retire(RetireOrder order, long startNanos, long hardNanos, long nowNanos) {
        if (retirement == null) {
            retirement = new Retirement();
        }
        retirement.add(order, startNanos, hardNanos, nowNanos);
    }

    /** Takes an order back: as if it had never been. */
    public void stay(RetireOrder order) {
        if (retirement != null) {
            retirement.remove(order);
            dropRetirementIfOver();
        }
    }

    /** Takes back of an order what has not happened yet: it still leaves, since its client knows, but has no deadline. */
    public void leaveWithoutDeadline(RetireOrder order) {
        if (retirement != null) {
            retirement.unlimit(order);
        }
    }

    /** The connection has come to an endpoint: orders that do not hold there are taken back. */
    public void arriveAt(EndpointCell endpoint) {
        if (retirement != null) {
            retirement.arriveAt(endpoint);
            dropRetirementIfOver();
        }
    }

    private void dropRetirementIfOver() {
        if (retirement.isEmpty()) {
            retirement = null;
        }
    }

    /** Whether it has that order. */
    public boolean under(RetireOrder order) {
        return retirement != null && retirement.has(order);
    }

    /** Its hard limit is now. */
    public void hurry(long nowNanos) {
        if (retirement != null) {
            retirement.hurry(nowNanos);
        }
    }

    /** It has ended: all orders are told. */
    public void ended(CloseReason reason, RetireHow how) {
        if (retirement != null) {
            retirement.ended(reason, how);
            retirement = null;
        }
    }

    // ---- what follows

    /** Whether anybody wants it to end, now or later. */
    public boolean marked() {
        return retirement != null;
    }

    /** Whether it may end now, at a moment that hurts nobody. */
    public boolean retiring(long nowNanos) {
        return retirement != null && retirement.begun(nowNanos);
    }

    /** What it is retiring for; null when it is not. */
    public CloseReason reason(long nowNanos) {
        return retirement == null ? null : retirement.reason(nowNanos);
    }

    /** Whether it must end now. */
    public boolean atHardLimit(long nowNanos) {
        return retirement != null && nowNanos - retirement.hardNanos() >= 0;
    }

    /** When something about it changes next by itself; {@link #NEVER} from now when nothing does. */
    public long nextNanos(long nowNanos) {
        long next = softNanos == Lifetime.UNLIMITED ? nowNanos + NEVER : softNanos;
        if (retirement != null) {
            if (!retirement.begun(nowNanos)) {
                next = earlier(next, retirement.startNanos());
            }
            next = earlier(next, retirement.hardNanos());
        }
        return next;
    }

    /**
     * The silence that lets a retiring connection be ended whose bytes cannot be understood.
     *
     * @param seen what its talk sounds like
     */
    public long neededSilenceNanos(Quiet.Seen seen, long nowNanos) {
        if (atHardLimit(nowNanos)) {
            // Nothing presses any more: whoever spoke a moment ago is in the middle of something.
            return limits.quietNanos();
        }
        if (!retirement.limited()) {
            return Quiet.neededNanosUnlimited(seen, limits.quietNanos());
        }
        long grace = Math.max(0, retirement.hardNanos() - retirement.startNanos());
        return Quiet.neededNanos(seen, quietNanos(), grace, remainingNanos(nowNanos));
    }

    /**
     * From when on a retiring connection that waits between two known exchanges may be ended by its silence.
     *
     * @param silentSinceNanos when its last bytes moved
     */
    public long betweenExchangesUntilNanos(long silentSinceNanos, long nowNanos) {
        long start = retirement.startNanos();
        long since = start - silentSinceNanos >= 0 ? start : silentSinceNanos;
        return since
                + Quiet.betweenExchangesNanos(
                        retirement.limited(),
                        retirement.limited() ? quietNanos() : limits.quietNanos(),
                        remainingNanos(nowNanos));
    }

    /** In a short window the whole setting would leave no moment to end at. */
    private long quietNanos() {
        return Math.min(limits.quietNanos(), Math.max(retirement.windowNanos() / 4, Deadlines.TICK_NANOS));
    }

    private long remainingNanos(long nowNanos) {
        return Math.max(0, retirement.hardNanos() - nowNanos);
    }

    private static long earlier(long a, long b) {
        return a - b <= 0 ? a : b;
    }
}
