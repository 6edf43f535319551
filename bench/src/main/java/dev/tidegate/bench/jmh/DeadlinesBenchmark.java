package dev.tidegate.bench.jmh;

import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Expirable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The wheel, with as many deadlines armed as a worker has connections. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class DeadlinesBenchmark {
    /** Deadlines that stay armed. */
    @Param({"0", "10000"})
    public int armed;

    private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);

    private final Expirable nothing = now -> {};
    private Deadlines deadlines;
    private long nowNanos;

    /** Arms what stays. */
    @Setup
    public void fill() {
        deadlines = new Deadlines(0, () -> 0L);
        for (int i = 0; i < armed; i++) {
            deadlines.arm(HOUR_NANOS + i * 1_000_003L, nothing);
        }
    }

    /** What a connection costs: one deadline armed, and cancelled again. */
    @Benchmark
    public void armAndCancel() {
        deadlines.cancel(deadlines.arm(nowNanos + TimeUnit.SECONDS.toNanos(1), nothing));
    }

    /** What time costs: one tick of the wheel with nothing due. */
    @Benchmark
    public void tick() {
        nowNanos = (nowNanos + Deadlines.TICK_NANOS) % (HOUR_NANOS / 2);
        deadlines.advance(nowNanos);
    }
}
