package dev.tidegate.model;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How fit an endpoint is for new connections, by what checks say and by how connections to it have fared; and how far it
 * is back when it has just become fit. Outlives snapshots, as part of its {@link EndpointCell}.
 *
 * <p>Read by any worker; the verdicts are written by control, streaks and trials by any thread.
 */
public final class Fitness {
    /** A whole share. */
    public static final int FULL_SHARE = 1_000;

    private static final int UNBOUNDED = -1;

    private volatile int unfit; // writer: control; bits of Unfit, 0: fit
    private volatile int share = FULL_SHARE; // writer: control
    private volatile int mostTrials; // writer: control
    private volatile long checksPassed; // writer: the checks' thread
    private volatile long checksFailed; // writer: the checks' thread
    private volatile long lastCheckMillis; // writer: the checks' thread
    private volatile long ejections; // writer: control
    private final AtomicInteger trials = new AtomicInteger(UNBOUNDED);
    private final AtomicInteger failuresInRow = new AtomicInteger();
    private final AtomicInteger connectFailuresInRow = new AtomicInteger();

    /** Why an endpoint is not fit. It may be several at a time. */
    public enum Unfit {
        /** Its first check is not over. */
        UNCHECKED("unchecked"),
        /** Checks say that it is dead. */
        DOWN("down"),
        /** It says itself that it wants no new connections. */
        NOT_READY("not-ready"),
        /** It is ejected, since connections to it fared worse than those to its siblings. */
        EJECTED("ejected"),
        /** Its breaker is open: connects to it have failed, and it is not dialed for a while. */
        BREAKER_OPEN("breaker-open");

        private final String word;

        Unfit(String word) {
            this.word = word;
        }

        /** The word that logs, metrics and the admin API show. */
        public String word() {
            return word;
        }

        private int bit() {
            return 1 << ordinal();
        }
    }

    /** What an attempt needs when the breaker is half open. */
    public enum Trial {
        /** Nothing: the breaker is closed. */
        NOT_NEEDED,
        /** It has one of the trials; it is to be given back by {@link #endTrial}, or ends in a failure. */
        TAKEN,
        /** All trials are under way. */
        REFUSED
    }

    /** Whether nothing speaks against it. */
    public boolean fit() {
        return unfit == 0 && trials.get() != 0;
    }

    /** Whether it is not fit for that reason. */
    public boolean unfit(Unfit why) {
        return (unfit & why.bit()) != 0;
    }

    /** Whether there is no verdict against it. Its breaker may be half open. */
    public boolean sound() {
        return unfit == 0;
    }

    /** Whether there would be no verdict against it without those. */
    public boolean soundBut(Unfit... those) {
        int left = unfit;
        for (Unfit one : those) {
            left &= ~one.bit();
        }
        return left == 0;
    }

    /** Says whether it is unfit for that reason. Called by control only. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer: control
    public void set(Unfit why, boolean now) {
        if (now) {
            unfit |= why.bit();
        } else {
            unfit &= ~why.bit();
        }
    }

    /** Its part of its weight and of its limit, in thousandths: {@link #FULL_SHARE} but for a slow start. */
    public int share() {
        return share;
    }

    /** Sets its share, 1 to {@link #FULL_SHARE}. Called by control only. */
    public void share(int thousandths) {
        if (thousandths < 1 || thousandths > FULL_SHARE) {
            throw new IllegalArgumentException("share " + thousandths + " is out of range (1.." + FULL_SHARE + ")");
        }
        share = thousandths;
    }

    // ---- what was counted

    /** A check has passed or not, at that time of day. One writer at a time: the checks' thread. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void countCheck(boolean passed, long epochMillis) {
        if (passed) {
            checksPassed++;
        } else {
            checksFailed++;
        }
        lastCheckMillis = epochMillis;
    }

    /** It has been ejected. Called by control only. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void countEjection() {
        ejections++;
    }

    /** Checks that passed. */
    public long checksPassed() {
        return checksPassed;
    }

    /** Checks that did not. */
    public long checksFailed() {
        return checksFailed;
    }

    /** When the last check ended, in milliseconds of the epoch; 0 when there was none. */
    public long lastCheckMillis() {
        return lastCheckMillis;
    }

    /** How often it has been ejected. */
    public long ejections() {
        return ejections;
    }

    // ---- the half-open breaker

    /** Lets so many attempts at a time through, until {@link #endTrials}. Called by control only. */
    public void beginTrials(int most) {
        mostTrials = most;
        trials.set(most);
    }

    /** Lets every attempt through. Called by control only. */
    public void endTrials() {
        trials.set(UNBOUNDED);
    }

    /** Whether attempts are let through one by one: the breaker is half open. */
    public boolean onTrial() {
        return trials.get() != UNBOUNDED;
    }

    /** Takes a trial, where one is needed. */
    public Trial tryTrial() {
        int left = trials.get();
        while (left > 0) {
            int witness = trials.compareAndExchange(left, left - 1);
            if (witness == left) {
                return Trial.TAKEN;
            }
            left = witness;
        }
        return left == UNBOUNDED ? Trial.NOT_NEEDED : Trial.REFUSED;
    }

    /** Gives a trial back that has not failed. */
    public void endTrial() {
        trials.getAndUpdate(left -> left == UNBOUNDED ? UNBOUNDED : Math.min(left + 1, mostTrials));
    }

    // ---- streaks

    /** Counts one more failure, and answers how many there are in a row. */
    public int addFailure() {
        return failuresInRow.incrementAndGet();
    }

    /** The row of failures is over. Costs a look where there is none. */
    public void endFailures() {
        if (failuresInRow.get() != 0) {
            failuresInRow.set(0);
        }
    }

    /** Failures in a row. */
    public int failuresInRow() {
        return failuresInRow.get();
    }

    /** Counts one more failed connect, and answers how many there are in a row. */
    public int addConnectFailure() {
        return connectFailuresInRow.incrementAndGet();
    }

    /** The row of failed connects is over. Costs a look where there is none. */
    public void endConnectFailures() {
        if (connectFailuresInRow.get() != 0) {
            connectFailuresInRow.set(0);
        }
    }

    /** Failed connects in a row. */
    public int connectFailuresInRow() {
        return connectFailuresInRow.get();
    }
}
