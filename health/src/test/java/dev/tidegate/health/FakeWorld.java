package dev.tidegate.health;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Checks under a clock that the test turns, and probes that answer what the test says, when it says. As a loop does, it
 * reads answers before it ticks, and ticks no sooner than it was asked to.
 */
final class FakeWorld {
    final Recorder recorder = new Recorder();
    final List<Asked> runs = new ArrayList<>();
    Function<Asked, Answer> answers = run -> new Answer(Finding.pass("ok"), Duration.ofMillis(1));
    Instant wall = Instant.EPOCH;
    boolean allWait;
    Duration cost = Duration.ZERO; // of each start, in the time of the loop

    private final PriorityQueue<Due> due = new PriorityQueue<>(Comparator.comparingLong(Due::atNanos));
    private final Checks checks;
    private long clockNanos;
    private long nextTickNanos = Long.MAX_VALUE;

    /** What a run answers, and after how long. */
    record Answer(Finding finding, Duration after) {}

    private record Due(long atNanos, Runnable what) {}

    /** Asks this world. Equal to others that ask the same. */
    record Ask(String what, FakeWorld world) implements Probe {
        @Override
        public Asked start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
            return world.start(context, address, done);
        }

        @Override
        public String toString() {
            return what;
        }
    }

    /** One run of a probe. */
    static final class Asked implements Probe.Run {
        final String endpoint;
        final InetSocketAddress address;
        final long startedNanos;
        final Consumer<Finding> done;
        boolean cancelled;
        boolean answered;
        boolean waiting;
        ProbeContext.Watch watch;

        Asked(String endpoint, InetSocketAddress address, long startedNanos, Consumer<Finding> done) {
            this.endpoint = endpoint;
            this.address = address;
            this.startedNanos = startedNanos;
            this.done = done;
        }

        boolean isOpen() {
            return !cancelled && !answered;
        }

        void answer(Finding finding) {
            answered = true;
            done.accept(finding);
        }

        @Override
        public boolean isWaiting() {
            return waiting;
        }

        void turn() {
            waiting = false;
            watch.onTurn();
        }

        @Override
        public String cancel() {
            cancelled = true;
            return "no word";
        }
    }

    FakeWorld() {
        this(null);
    }

    FakeWorld(HealthListener other) {
        InstantSource clock = () -> wall;
        checks = new Checks(
                new StallProofTime(() -> clockNanos),
                clock,
                new SplittableRandom(11),
                other == null ? recorder : other,
                null,
                target -> (address, handler) -> {
                    throw new AssertionError("these probes connect nowhere");
                });
    }

    private Asked start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        Asked run = new Asked(context.subject().endpoint(), address, clockNanos, done);
        clockNanos += cost.toNanos();
        run.watch = context.watch();
        run.waiting = allWait;
        runs.add(run);
        Answer answer = answers.apply(run);
        if (answer != null && answer.after.isZero()) {
            run.answer(answer.finding);
        } else if (answer != null) {
            due.add(new Due(clockNanos + answer.after.toNanos(), () -> {
                if (run.isOpen()) {
                    run.answer(answer.finding);
                }
            }));
        }
        return run;
    }

    Probe ask(String what) {
        return new Ask(what, this);
    }

    Checks checks() {
        return checks;
    }

    long clockNanos() {
        return clockNanos;
    }

    void follow(List<Target> targets) {
        checks.follow(targets);
        tick();
    }

    void recheck(String id) {
        checks.recheck(id);
        tick();
    }

    private void tick() {
        long waitNanos = checks.tick();
        nextTickNanos = waitNanos == StallProofTime.FOREVER ? Long.MAX_VALUE : clockNanos + waitNanos;
    }

    /** Turns the clock on; everything happens in its time. */
    void pass(Duration time) {
        long endNanos = clockNanos + time.toNanos();
        while (clockNanos < endNanos) {
            long next = Math.min(endNanos, nextTickNanos);
            if (!due.isEmpty()) {
                next = Math.min(next, due.peek().atNanos);
            }
            clockNanos = Math.max(clockNanos, next);
            turn();
        }
    }

    /** The process is stopped for that long: the clock goes on, nothing else does. */
    void stall(Duration time) {
        clockNanos += time.toNanos();
        turn();
    }

    private void turn() {
        while (!due.isEmpty() && due.peek().atNanos <= clockNanos) {
            due.poll().what.run();
        }
        if (nextTickNanos <= clockNanos) {
            tick();
        }
    }

    List<Asked> runsOf(String endpoint) {
        return runs.stream().filter(run -> run.endpoint.equals(endpoint)).toList();
    }

    /** The most starts in any window of that length, from then on. */
    long mostStartsWithin(Duration window, long fromNanos) {
        long most = 0;
        int oldest = 0;
        for (int i = 0; i < runs.size(); i++) {
            while (runs.get(i).startedNanos - runs.get(oldest).startedNanos >= window.toNanos()) {
                oldest++;
            }
            if (runs.get(i).startedNanos >= fromNanos) {
                most = Math.max(most, i - oldest + 1);
            }
        }
        return most;
    }
}
