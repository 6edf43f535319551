package dev.tidegate.model;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * One decision to retire connections, such as a drain: shared by all connections that it covers, which count themselves in
 * and out of it. Its identity is what takes it back.
 *
 * <p>Counted by any worker, read by any thread.
 */
public final class RetireOrder {
    private final CloseReason reason;
    private final Predicate<EndpointCell> covers;
    private final AtomicInteger joined = new AtomicInteger();
    private final AtomicInteger remaining = new AtomicInteger();
    private final AtomicInteger retired = new AtomicInteger();
    private final AtomicInteger cut = new AtomicInteger();

    /**
     * @param reason what connections that it ends are closed for
     * @param covers on which endpoints it holds: a connection that is dialing, and comes to another one, leaves it
     */
    public RetireOrder(CloseReason reason, Predicate<EndpointCell> covers) {
        this.reason = reason;
        this.covers = covers;
    }

    /** An order that holds whatever endpoint a connection is on. */
    public static RetireOrder everywhere(CloseReason reason) {
        return new RetireOrder(reason, endpoint -> true);
    }

    /** What connections that it ends are closed for. */
    public CloseReason reason() {
        return reason;
    }

    /** Whether it holds on that endpoint. */
    public boolean covers(EndpointCell endpoint) {
        return covers.test(endpoint);
    }

    /** Counts a connection in. */
    public void join() {
        joined.getAndIncrement();
        remaining.getAndIncrement();
    }

    /** Counts a connection out that is covered no more, and goes on. */
    public void leave() {
        joined.getAndDecrement();
        remaining.getAndDecrement();
    }

    /**
     * Counts a connection out that has ended.
     *
     * @param how this order ended it; null when something else did
     */
    public void ended(RetireHow how) {
        if (how == RetireHow.CUT) {
            cut.getAndIncrement();
        } else if (how != null) {
            retired.getAndIncrement();
        }
        remaining.getAndDecrement();
    }

    /** How many connections it covers or has covered to their ends. */
    public int joined() {
        return joined.get();
    }

    /** How many of them have not ended. */
    public int remaining() {
        return remaining.get();
    }

    /** How many it ended without a cut. */
    public int retired() {
        return retired.get();
    }

    /** How many it cut. */
    public int cut() {
        return cut.get();
    }

    @Override
    public String toString() {
        return reason + " joined=" + joined + " remaining=" + remaining + " retired=" + retired + " cut=" + cut;
    }
}
