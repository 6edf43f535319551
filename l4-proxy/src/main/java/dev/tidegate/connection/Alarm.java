package dev.tidegate.connection;

import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Expirable;

/** The one deadline that a connection has on its worker's wheel. Confined to that worker's loop. */
final class Alarm {
    private final Deadlines deadlines;
    private final Expirable whom;
    private long handle = Deadlines.UNARMED;
    private long whenNanos;

    Alarm(Deadlines deadlines, Expirable whom) {
        this.deadlines = deadlines;
        this.whom = whom;
    }

    /** Is to ring at that time, and at no other. */
    void at(long nanos) {
        cancel();
        whenNanos = nanos;
        handle = deadlines.arm(nanos, whom);
    }

    /** Is to ring at that time, if it does not ring before. */
    void by(long nanos) {
        if (handle == Deadlines.UNARMED || nanos - whenNanos < 0) {
            at(nanos);
        }
    }

    /** It has rung, and will not again. */
    void rung() {
        handle = Deadlines.UNARMED;
    }

    void cancel() {
        if (handle != Deadlines.UNARMED) {
            deadlines.cancel(handle);
            handle = Deadlines.UNARMED;
        }
    }
}
