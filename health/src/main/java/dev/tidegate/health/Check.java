package dev.tidegate.health;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One target: what it is found to be, and the check of it that is under way, if any. Confined to the checks' loop, save
 * for {@link #history()}.
 */
final class Check {
    private final Checks checks;
    private final History history = new History();
    private final Streak streak;
    private final Damping damping = new Damping();
    private final int number;
    private Target target;
    private Attempt attempt; // null: no check is under way
    private int addressIndex;
    private Finding best;
    private long startedNanos;
    private long begunNanos; // as startedNanos, or when its turn came
    // By these three the sets of Checks are sorted: they change only outside of them.
    private long dueNanos;
    private long rhythmNanos;
    private long deadlineNanos;
    private boolean again;
    private long phaseNanos;

    Check(Checks checks, int number, Target target, long nowNanos) {
        this.checks = checks;
        this.number = number;
        this.target = target;
        streak = new Streak(target.plan().initial());
        damping.onRise(nowNanos);
        drawPhase(nowNanos);
    }

    Target target() {
        return target;
    }

    CheckPlan plan() {
        return target.plan();
    }

    /** Unique; breaks ties. */
    int number() {
        return number;
    }

    History history() {
        return history;
    }

    boolean isUnderWay() {
        return attempt != null;
    }

    /** Whether there is an address to check. One that is not resolved, or without a port, is none. */
    boolean canRun() {
        return target.addresses().stream().anyMatch(Check::isSet);
    }

    private static boolean isSet(InetSocketAddress address) {
        return !address.isUnresolved() && address.getPort() != 0;
    }

    /** When the next one is to start. */
    long dueNanos() {
        return dueNanos;
    }

    void due(long atNanos) {
        CheckPlan plan = plan();
        dueNanos = atNanos;
        rhythmNanos = streak.inRow() > 0 ? fastNanos(plan) : plan.intervalNanos();
    }

    /** The time between two checks as things stood when it was said when the next one is due. */
    long rhythmNanos() {
        return rhythmNanos;
    }

    /** When the one under way is given up. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    long startedNanos() {
        return startedNanos;
    }

    /** The next one is to follow at once the one under way. */
    void again() {
        again = true;
    }

    /**
     * The same target, described anew. Keeps the condition and the history, and the row of results if it is asked the same.
     *
     * @return whether something else is asked now, or elsewhere, so that what is under way means nothing any more
     */
    boolean describe(Target next) {
        boolean sameProbe = next.plan().probe().equals(target.plan().probe());
        boolean same = sameProbe
                && next.addresses().equals(target.addresses())
                && next.greeting() == target.greeting()
                && Objects.equals(next.source(), target.source());
        if (!sameProbe) {
            streak.forget();
        }
        target = next;
        return !same;
    }

    // One check, address after address.

    void start(long nowNanos) {
        startedNanos = nowNanos;
        begunNanos = nowNanos;
        again = false;
        addressIndex = -1;
        best = null;
        tryNext(nowNanos);
    }

    private void tryNext(long nowNanos) {
        List<InetSocketAddress> addresses = target.addresses();
        do {
            addressIndex++;
        } while (!isSet(addresses.get(addressIndex)));
        Attempt next = new Attempt();
        attempt = next;
        deadlineNanos = nowNanos + plan().timeoutNanos();
        next.start(addresses.get(addressIndex));
        if (attempt == next && next.run.isWaiting()) {
            deadlineNanos = nowNanos + waitMostNanos();
        }
    }

    /** Until it would be due again: longer than that another has not to wait either. */
    private long waitMostNanos() {
        return Math.max(plan().timeoutNanos(), plan().intervalNanos());
    }

    /** What is under way begins only now. */
    void restart(long nowNanos) {
        begunNanos = nowNanos;
        deadlineNanos = nowNanos + plan().timeoutNanos();
    }

    private boolean hasNext() {
        List<InetSocketAddress> addresses = target.addresses();
        return addresses.subList(addressIndex + 1, addresses.size()).stream().anyMatch(Check::isSet);
    }

    /** The time of the attempt under way is over. */
    void timeOut() {
        Attempt late = attempt;
        boolean waiting = late.run.isWaiting();
        String howFar = late.cancel();
        late.end(
                waiting
                        ? Finding.voided("waited " + TimeUnit.NANOSECONDS.toMillis(waitMostNanos()) + " ms: " + howFar)
                        : Finding.fail("time-out after " + TimeUnit.NANOSECONDS.toMillis(plan().timeoutNanos())
                                + " ms: " + howFar));
    }

    /** Gives up what is under way and says nothing of it. */
    void cancel() {
        if (attempt != null) {
            attempt.cancel();
            attempt = null;
            again = false;
        }
    }

    private void onFound(Finding finding) {
        attempt = null;
        Finding told = target.addresses().size() == 1
                ? finding
                : new Finding(finding.word(), hostPort(target.addresses().get(addressIndex)) + ": " + finding.detail());
        if (best == null || rank(told.word()) >= rank(best.word())) {
            best = told;
        }
        if (finding.word() != Word.PASS && hasNext()) {
            checks.onNextAttempt(this);
        } else {
            checks.onEnd(this);
        }
    }

    /** After an attempt that did not pass. */
    void proceed(long nowNanos) {
        tryNext(nowNanos);
    }

    private static String hostPort(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }

    /** Of several addresses the best word counts; an address that could not be tried might have been better than a bad one. */
    private static int rank(Word word) {
        return switch (word) {
            case FAIL -> 0;
            case VOID -> 1;
            case NOT_READY -> 2;
            case PASS -> 3;
        };
    }

    // What it means.

    /** Takes the finding of the check that has ended. */
    Verdict judge(long nowNanos, Instant time) {
        Condition before = streak.condition();
        if (best.word() != Word.VOID) {
            streak.onResult(best.word(), plan(), damping.heldNanos(nowNanos, plan()) == 0);
        }
        Condition after = streak.condition();
        if (after != before && before == Condition.UP) {
            damping.onFall(nowNanos, plan());
        }
        if (after != before && after == Condition.UP) {
            damping.onRise(nowNanos);
        }
        Verdict verdict = new Verdict(
                time, nowNanos - begunNanos, best, after, streak.inRow(), streak.needed(plan()), heldNanos(nowNanos));
        history.add(verdict);
        return verdict;
    }

    Condition condition() {
        return streak.condition();
    }

    private long heldNanos(long nowNanos) {
        return streak.condition() == Condition.UP ? 0 : damping.heldNanos(nowNanos, plan());
    }

    // When next.

    /** Draws its phase anew: its regular checks fall anywhere in the interval, whatever else is checked when. */
    void drawPhase(long nowNanos) {
        phaseNanos = nowNanos + (long) (checks.chance() * plan().intervalNanos());
    }

    /** When its next regular check is due. */
    long phaseNanos() {
        return phaseNanos;
    }

    /**
     * When the next one is due, after one that has ended. Checks out of turn (the first, a fast one, one that was asked for)
     * leave the phase as it is, so that what befalls many targets at once does not bring them into step.
     */
    long nextDueNanos(long nowNanos) {
        CheckPlan plan = plan();
        if (startedNanos - phaseNanos > plan.intervalNanos()) {
            drawPhase(startedNanos);
        }
        while (phaseNanos <= startedNanos) {
            phaseNanos += jittered(plan.intervalNanos());
        }
        if (again) {
            again = false;
            return Math.max(nowNanos, startedNanos + Checks.RECHECK_LEAST_NANOS);
        }
        long fast = fastNanos(plan);
        long regular = Math.max(phaseNanos, startedNanos + fast / 2);
        long held = heldNanos(nowNanos);
        boolean waitsForTheHold = held > 0 && streak.inRow() >= streak.needed(plan);
        long due = regular;
        if (waitsForTheHold) {
            due = Math.min(regular, Math.max(startedNanos + fast, nowNanos + held));
        } else if (streak.condition() == Condition.UNKNOWN || streak.inRow() > 0) {
            due = Math.min(regular, startedNanos + jittered(fast));
        }
        return Math.max(nowNanos, due);
    }

    private static long fastNanos(CheckPlan plan) {
        return Math.min(plan.fastIntervalNanos(), plan.intervalNanos());
    }

    private long jittered(long nanos) {
        return Math.max(1, (long) (nanos * (1 + (2 * checks.chance() - 1) * plan().jitterPercent() / 100.0)));
    }

    @Override
    public String toString() {
        return "Check[" + target.id() + ", " + streak.condition() + "]";
    }

    /** One run of the probe at one address; what it says after its end is not heard. */
    private final class Attempt implements Consumer<Finding>, ProbeContext.Connector, ProbeContext.Watch {
        private final ProbeContext.Connector connector = checks.connectorFor(target);
        private Probe.Run run;
        private Throwable ownFault;
        private boolean over;

        void start(InetSocketAddress address) {
            try {
                run = plan().probe()
                        .start(new ProbeContext(checks.loop(), this, target.subject(), this), address, this);
            } catch (Throwable e) {
                onOwnFault("start", e);
                accept(Finding.ofOwnFault(e));
            }
        }

        /** A connect that fails for want of something here voids what the probe makes of it. */
        @Override
        public ChannelFuture connect(InetSocketAddress address, ChannelHandler handler) {
            return connector.connect(address, handler).addListener(connect -> {
                if (!connect.isSuccess() && Faults.isOurs(connect.cause())) {
                    ownFault = connect.cause();
                }
            });
        }

        @Override
        public void accept(Finding finding) {
            if (!over) {
                end(finding);
            }
        }

        void end(Finding finding) {
            over = true;
            boolean excused =
                    ownFault != null && (finding.word() == Word.FAIL || finding.equals(Finding.ofFault(ownFault)));
            onFound(excused ? ofOwnSide() : finding);
        }

        /** A source has two ways to be of no use, and the system one word for both. */
        private Finding ofOwnSide() {
            Finding found = Finding.ofFault(ownFault);
            return target.source() == null || ownFault instanceof OtherFamilyException
                    ? found
                    : new Finding(
                            found.word(),
                            found.detail() + " (source "
                                    + target.source().getAddress().getHostAddress()
                                    + ": is it this machine's, and has it ports left?)");
        }

        /** Says how far it had come. */
        String cancel() {
            over = true;
            try {
                return run.cancel();
            } catch (Throwable e) {
                onOwnFault("cancel", e);
                return "unknown";
            }
        }

        @Override
        public void onTurn() {
            if (!over) {
                checks.onTurn(Check.this);
            }
        }

        @Override
        public void onOwnFault(String step, Throwable fault) {
            checks.ownFaults().on(step, target, fault);
        }
    }
}
