package dev.tidegate.model;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How fit an endpoint is for new connections, by what checks say and by how connections to it have fared; and how far it
 * is back when it has just become fit. Outlives snapshots, as part of its {@link EndpointCell}.
 *
 * <p>Read by any worker; the verdicts are written by control, streaks and trials by any thread.
 */
public final class Fitness {
    /** A whole share. */
    public static final int FULL_SHARE = 1_000;

    /** What {@link #tryTrial} answers while the breaker is closed: nothing is needed, and nothing to be given back. */
    public static final int TRIAL_NOT_NEEDED = 0;

    /** What {@link #tryTrial} answers while all trials are under way. */
    public static final int TRIAL_REFUSED = -1;

    private static final int UNBOUNDED = -1;

    private volatile int unfit; // writer: control; bits of Unfit, 0: fit
    private volatile int share = FULL_SHARE; // writer: control
    private volatile int mostTrials; // writer: control
    private volatile long checksPassed; // writer: the checks' thread
    private volatile long checksFailed; // writer: the checks' thread
    private volatile long checksLate; // writer: the checks' thread
    private volatile long lastCheckMillis; // writer: the checks' thread
    private volatile long ejections; // writer: control
    /** Which half-open period it is, and how many trials are left in it: both change in one step. */
    private final AtomicLong trials = new AtomicLong(trials(0, UNBOUNDED));

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

    /** Whether nothing speaks against it. */
    public boolean fit() {
        return unfit == 0 && left(trials.get()) != 0;
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

    /** A check starts late by more than its interval. One writer at a time: the checks' thread. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void countLateCheck() {
        checksLate++;
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

    /** Checks that started late by more than their interval. */
    public long checksLate() {
        return checksLate;
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
        trials.updateAndGet(before -> trials(after(period(before)), most));
    }

    /** Lets every attempt through. Called by control only. */
    public void endTrials() {
        trials.updateAndGet(before -> trials(period(before), UNBOUNDED));
    }

    /** Whether attempts are let through one by one: the breaker is half open. */
    public boolean onTrial() {
        return left(trials.get()) != UNBOUNDED;
    }

    /**
     * Takes a trial, where one is needed.
     *
     * @return {@link #TRIAL_NOT_NEEDED}, {@link #TRIAL_REFUSED}, or a trial: it is to be given back by {@link #endTrial},
     *     or ends in a failure
     */
    public int tryTrial() {
        long now = trials.get();
        while (left(now) > 0) {
            long witness = trials.compareAndExchange(now, trials(period(now), left(now) - 1));
            if (witness == now) {
                return period(now);
            }
            now = witness;
        }
        return left(now) == UNBOUNDED ? TRIAL_NOT_NEEDED : TRIAL_REFUSED;
    }

    /** Gives a trial back that has not failed. One of an earlier half-open period is none of the trials of this one. */
    public void endTrial(int trial) {
        trials.getAndUpdate(now -> period(now) == trial && left(now) != UNBOUNDED
                ? trials(trial, Math.min(left(now) + 1, mostTrials))
                : now);
    }

    private static long trials(int period, int left) {
        return ((long) period << Integer.SIZE) | (left & 0xffff_ffffL);
    }

    private static int period(long trials) {
        return (int) (trials >>> Integer.SIZE);
    }

    private static int left(long trials) {
        return (int) trials;
    }

    /** Above 0: what is below has a meaning of its own. */
    private static int after(int period) {
        return period == Integer.MAX_VALUE ? 1 : period + 1;
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
