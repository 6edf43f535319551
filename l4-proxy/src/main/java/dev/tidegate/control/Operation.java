package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.lifetime.Lifespan;
import dev.tidegate.model.RetireOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Something that retires connections and can be watched to its end.
 *
 * <p>Changed by control only; read by any thread.
 */
final class Operation {
    /** What it is. */
    enum Kind {
        /** A drain of an endpoint, a backend, a frontend or the process. */
        DRAIN,
        /** An endpoint or a frontend that was taken away. */
        REMOVE,
        /** What endpoints have above their fair share. */
        REBALANCE,
        /** An endpoint that checks say is down. */
        DOWN,
        /** One connection. */
        CLOSE,
        /** The stop of the process. */
        SHUTDOWN;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Where it stands. */
    enum State {
        /** Connections are left. */
        RUNNING,
        /** None is left. */
        DONE,
        /** It was taken back. */
        CANCELLED
    }

    private final String id;
    private final Kind kind;
    private final String target;
    private final RetirePlan plan;
    private final RetireOrder order;
    private final Instant started;
    private final long startNanos;
    private final Pace pace;
    private final AtomicInteger stayed = new AtomicInteger(); // connections that it let go again
    private volatile int total; // writer: control
    private volatile State state = State.RUNNING; // writer: control

    Operation(String id, Kind kind, String target, RetirePlan plan, RetireOrder order, Instant started, long nowNanos) {
        this.id = id;
        this.kind = kind;
        this.target = target;
        this.plan = plan;
        this.order = order;
        this.started = started;
        this.startNanos = nowNanos;
        this.pace = new Pace(nowNanos);
    }

    String id() {
        return id;
    }

    Kind kind() {
        return kind;
    }

    String target() {
        return target;
    }

    RetirePlan plan() {
        return plan;
    }

    RetireOrder order() {
        return order;
    }

    State state() {
        return state;
    }

    boolean running() {
        return state == State.RUNNING;
    }

    void begunWith(int connections) {
        total = connections;
    }

    /** To be called now and then, so that its pace is that of late. */
    void look(long nowNanos) {
        pace.note(order.joined() - order.remaining(), nowNanos);
    }

    void done() {
        state = State.DONE;
    }

    /** So many more connections that it covered stay. */
    void leftAlone(int connections) {
        stayed.getAndAdd(connections);
    }

    void cancelled() {
        state = State.CANCELLED;
    }

    /** When the last of its connections is cut, by the ticker; {@link Lifespan#NEVER} and more from now without a limit. */
    long lastNanos() {
        return plan.lastNanos(startNanos);
    }

    /**
     * How it stands.
     *
     * @param nowNanos by the ticker
     * @param oldestAgeNanos of the connections that remain; empty when there is none
     */
    OperationView view(long nowNanos, OptionalLong oldestAgeNanos) {
        State now = state;
        int staying = now == State.CANCELLED ? stayed.get() : 0;
        int remaining = order.remaining() + staying;
        return new OperationView(
                id,
                kind.word(),
                target,
                now.name().toLowerCase(Locale.ROOT),
                Math.max(total, order.joined() + staying),
                remaining,
                order.retired(),
                order.cut(),
                running() ? rounded(pace.perSecond(order.joined() - order.remaining(), nowNanos)) : 0,
                oldestAgeNanos.isPresent() && remaining > 0 ? millis(oldestAgeNanos.getAsLong()) : null,
                etaMillis(nowNanos, remaining),
                limited() ? started.plus(Duration.ofNanos(lastNanos() - startNanos)) : null,
                kind == Kind.CLOSE ? null : plan.mode().word(),
                started);
    }

    private boolean limited() {
        return plan.mode() == DrainMode.CUT || plan.deadline().isPresent();
    }

    /** By the pace so far, and no later than the last cut; null when neither says anything. */
    private Long etaMillis(long nowNanos, int remaining) {
        if (state != State.RUNNING || remaining == 0) {
            return state == State.RUNNING ? Long.valueOf(0) : null;
        }
        int gone = order.joined() - remaining;
        Long byPace = gone > 0 ? millis((long) ((double) (nowNanos - startNanos) * remaining / gone)) : null;
        Long byLimit = limited() ? millis(Math.max(0, lastNanos() - nowNanos)) : null;
        if (byPace == null || byLimit == null) {
            return byPace == null ? byLimit : byPace;
        }
        return Math.min(byPace, byLimit);
    }

    private static double rounded(double perSecond) {
        return Math.round(perSecond * 10) / 10.0;
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }

    @Override
    public String toString() {
        return id + " " + kind.word() + " " + target + " " + state;
    }
}
