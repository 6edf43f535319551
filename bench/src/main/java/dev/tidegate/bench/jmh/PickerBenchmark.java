package dev.tidegate.bench.jmh;

import dev.tidegate.balance.Pickers;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
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

/** One pick, over endpoints of mixed weights and loads. Once a connection. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class PickerBenchmark {
    /** How endpoints are chosen. */
    @Param
    public BalancePolicy policy;

    /** How many there are. */
    @Param({"3", "100", "10000"})
    public int endpoints;

    private final RandomGenerator random =
            RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(1);
    private EndpointList list;
    private Picker picker;

    /** Makes the endpoints. */
    @Setup
    public void fill() {
        List<Endpoint> all = new ArrayList<>();
        for (int i = 0; i < endpoints; i++) {
            EndpointCell cell = new EndpointCell(
                    "b", "e" + i, i, List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1 + i % 60_000)));
            for (int n = random.nextInt(10); n > 0; n--) {
                cell.tryAcquire(Integer.MAX_VALUE);
            }
            all.add(new Endpoint("e" + i, 1 + i % 3, Integer.MAX_VALUE, cell));
        }
        list = new EndpointList(all);
        picker = Pickers.of(policy);
    }

    /** Picks. */
    @Benchmark
    public int pick() {
        return picker.pick(list, Tried.NOTHING, random);
    }
}
