package dev.tidegate.bench.sim;

import dev.tidegate.model.Lifetime;

/** Limits on the age of connections. */
final class Lifetimes {
    static final Lifetime NONE = of(Double.POSITIVE_INFINITY, 0);

    private Lifetimes() {}

    /** With that max-age, and nothing else limited. */
    static Lifetime of(double maxAgeSeconds, double jitter) {
        long nanos = Double.isInfinite(maxAgeSeconds) ? Lifetime.UNLIMITED : Math.round(maxAgeSeconds * Work.SECOND);
        Lifetime usual = Lifetime.DEFAULT;
        return new Lifetime(
                nanos,
                jitter,
                Lifetime.UNLIMITED,
                Lifetime.UNLIMITED,
                usual.graceNanos(),
                usual.quietNanos(),
                usual.lingerNanos());
    }
}
