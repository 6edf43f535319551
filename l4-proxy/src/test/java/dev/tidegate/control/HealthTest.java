package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.balance.Pickers;
import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.config.HealthConfig;
import dev.tidegate.fitness.Tally;
import dev.tidegate.health.Condition;
import dev.tidegate.health.Finding;
import dev.tidegate.health.Verdict;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Retries;
import dev.tidegate.model.Snapshot;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class HealthTest {
    /** Between two checks of a long interval it stood still. */
    @Test
    void forHowLongAnEndpointIsHeldDownIsSaidAsOfNow() {
        long ended = -50; // a ticker may begin below 0
        Verdict verdict = new Verdict(Instant.EPOCH, 1, Finding.pass("connected"), Condition.DOWN, 2, 2, 100);
        Health.Checked checked = new Health.Checked("id", Condition.UP, Condition.DOWN, Instant.EPOCH, verdict, ended);

        assertEquals(100, checked.heldNanos(ended));
        assertEquals(30, checked.heldNanos(ended + 70));
        assertEquals(0, checked.heldNanos(ended + 100));
        assertEquals(0, checked.heldNanos(ended + 1_000));
    }

    /** Each endpoint was looked for among all: eight times as many cost sixty-four times as much. */
    @Test
    @Tag("slow")
    void whatItCostsToFollowGrowsAsTheEndpointsDo() {
        long few = leastNanos(5_000);
        long many = leastNanos(40_000);

        assertTrue(many < 30 * few, "5,000 endpoints took ns: " + few + ", 40,000: " + many);
    }

    private static long leastNanos(int endpoints) {
        ScheduledExecutorService control = Executors.newSingleThreadScheduledExecutor();
        long least = Long.MAX_VALUE;
        try (Health health = health(control)) {
            Snapshot snapshot = snapshot(endpoints);
            health.prepare(config(), snapshot);
            for (int i = 0; i < 3; i++) {
                long begin = System.nanoTime();
                health.follow(snapshot);
                least = Math.min(least, System.nanoTime() - begin);
            }
        } finally {
            control.shutdownNow();
        }
        return least;
    }

    private static Health health(ScheduledExecutorService control) {
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(1);
        Health health = new Health(
                System::nanoTime,
                InstantSource.system(),
                random,
                random,
                new Events(InstantSource.system()),
                control,
                new Tally() {
                    @Override
                    public long answered(EndpointCell endpoint) {
                        return 0;
                    }

                    @Override
                    public long failures(EndpointCell endpoint) {
                        return 0;
                    }
                },
                Threads.OWN);
        health.tell(endpoint -> {}, () -> {}, new Health.Aftermath() {
            @Override
            public void onDown(EndpointCell endpoint, HealthConfig.OnDown policy) {
                throw new AssertionError("nothing is checked: no name is resolved");
            }

            @Override
            public void onAlive(EndpointCell endpoint) {
                throw new AssertionError("nothing was down");
            }
        });
        return health;
    }

    private static Config config() {
        String yaml = """
                frontends: [{name: edge, listen: "127.0.0.1:1", backend: back}]
                backends: [{name: back, health: {type: tcp}, endpoints: [{name: e0, address: "e0.test:1"}]}]
                """;
        ConfigResult read = ConfigReader.readText("t.yaml", yaml.getBytes(StandardCharsets.UTF_8), variable -> null);
        return read.config().orElseThrow(() -> new AssertionError(read.problems()));
    }

    /** Endpoints whose names are not resolved, so that none is checked. */
    private static Snapshot snapshot(int endpoints) {
        BackendCell cell = new BackendCell("back", 0);
        List<Endpoint> all = new ArrayList<>();
        for (int i = 0; i < endpoints; i++) {
            String name = "e" + i;
            all.add(new Endpoint(name, 1, Integer.MAX_VALUE, new EndpointCell("back", name + ".test:1", i, List.of())));
        }
        return new Snapshot(
                1,
                List.of(),
                List.of(new Backend(
                        cell,
                        BalancePolicy.RANDOM,
                        Pickers.of(BalancePolicy.RANDOM),
                        new EndpointList(all, cell),
                        new ConnectPolicy(1, 1, 1, ProxyProtocol.OFF),
                        Retries.UNBOUNDED,
                        EndpointWatch.NONE)));
    }
}
