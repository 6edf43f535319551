package dev.tidegate.balance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Tried;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which endpoint a pick chooses. Chance is seeded, so that each figure here is the same in every run. */
class PickersTest {
    private static final long SEED = 20_240_611;

    private final RandomGenerator random =
            RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(SEED);

    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"RANDOM", "ROUND_ROBIN"})
    void sharesFollowWeights(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 2, 7);

        int[] picked = pickAndLetGo(policy, endpoints, 100_000);

        assertEquals(0.1, picked[0] / 1e5, 0.005);
        assertEquals(0.2, picked[1] / 1e5, 0.005);
        assertEquals(0.7, picked[2] / 1e5, 0.005);
    }

    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"LEAST_CONNECTIONS", "POWER_OF_TWO", "ROUND_ROBIN"})
    void heldConnectionsFollowWeights(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 2, 7);

        pickAndHold(policy, endpoints, 1_000);

        assertEquals(100, inFlight(endpoints, 0), 3);
        assertEquals(200, inFlight(endpoints, 1), 3);
        assertEquals(700, inFlight(endpoints, 2), 5);
    }

    @Test
    void roundRobinIsSmooth() {
        EndpointList endpoints = weighted(5, 1, 1);
        Picker picker = Pickers.of(BalancePolicy.ROUND_ROBIN);

        assertEquals("aabacaa", order(picker, endpoints, 7));
        assertEquals("aabacaa", order(picker, endpoints, 7));
    }

    @Test
    void roundRobinGoesOnWhereItWasWhenTheListChanges() {
        EndpointList before = weighted(1, 1, 1);
        Picker picker = Pickers.of(BalancePolicy.ROUND_ROBIN);
        assertEquals("ab", order(picker, before, 2));
        EndpointList same = new EndpointList(before.all());

        assertEquals("cab", order(picker, same, 3));
    }

    @Test
    void roundRobinTakesUpAndDropsEndpointsWithTheList() {
        EndpointList three = weighted(1, 1, 1);
        Picker picker = Pickers.of(BalancePolicy.ROUND_ROBIN);
        assertEquals("abcabc", order(picker, three, 6));
        EndpointList two = new EndpointList(List.of(three.at(2), three.at(0)));
        String mixed = order(picker, two, 10);

        assertEquals(5, mixed.chars().filter(c -> c == 'a').count(), mixed);
        assertEquals(5, mixed.chars().filter(c -> c == 'c').count(), mixed);
    }

    @Test
    void roundRobinHasOneTurnForAllThreads() throws InterruptedException {
        EndpointList endpoints = weighted(1, 1, 1);
        Picker picker = Pickers.of(BalancePolicy.ROUND_ROBIN);
        int[] picked = new int[3];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                int[] mine = new int[3];
                for (int n = 0; n < 3_000; n++) {
                    mine[picker.pick(endpoints, Tried.NOTHING, random)]++;
                }
                synchronized (picked) {
                    Arrays.setAll(picked, index -> picked[index] + mine[index]);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertEquals(List.of(4_000, 4_000, 4_000), boxed(picked));
    }

    /** envoyproxy/envoy#20420: two draws that may be the same endpoint gave the idle one three quarters only. */
    @Test
    void ofTwoEndpointsTheIdleOneGetsAllUntilTheyAreEqual() {
        EndpointList endpoints = weighted(1, 1);
        hold(endpoints, 0, 100);

        List<Integer> order = pickAndHold(BalancePolicy.POWER_OF_TWO, endpoints, 100);

        assertEquals(100, inFlight(endpoints, 1));
        assertTrue(order.stream().allMatch(index -> index == 1), order.toString());
    }

    /** envoyproxy/envoy#3407: the weight's worth of connections went to one endpoint in a row. */
    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"ROUND_ROBIN", "LEAST_CONNECTIONS", "POWER_OF_TWO"})
    void tenOneOneIsInterleaved(BalancePolicy policy) {
        EndpointList endpoints = weighted(10, 1, 1);

        List<Integer> order = pickAndHold(policy, endpoints, 1_200);

        assertEquals(1_000, inFlight(endpoints, 0), 10);
        assertEquals(100, inFlight(endpoints, 1), 10);
        assertEquals(100, inFlight(endpoints, 2), 10);
        int longest = policy == BalancePolicy.ROUND_ROBIN ? 7 : policy == BalancePolicy.LEAST_CONNECTIONS ? 12 : 40;
        assertTrue(longestRun(order) <= longest, policy + " has a run of " + longestRun(order));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void equalEndpointsShareEvenly(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 1, 1, 1);

        int[] picked = pickAndLetGo(policy, endpoints, 40_000);

        for (int count : picked) {
            assertEquals(10_000, count, 300, policy + " " + Arrays.toString(picked));
        }
    }

    /** Low load must not lose the weights: (in-flight + 1) / weight, where in-flight / weight makes all idle ones alike. */
    @Test
    void leastConnectionsKeepsWeightsWhenAllAreIdle() {
        EndpointList endpoints = weighted(1, 3);

        int[] picked = pickAndLetGo(BalancePolicy.LEAST_CONNECTIONS, endpoints, 100);

        assertEquals(List.of(0, 100), boxed(picked));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void aFullEndpointIsLeftOutUntilItHasRoom(BalancePolicy policy) {
        EndpointList endpoints = new EndpointList(List.of(endpoint("a", 1, 5), endpoint("b", 1, Integer.MAX_VALUE)));
        hold(endpoints, 0, 5);
        hold(endpoints, 1, 100);
        assertEquals(List.of(0, 200), boxed(pickAndLetGo(policy, endpoints, 200)));

        endpoints.at(0).cell().release();

        assertTrue(pickAndLetGo(policy, endpoints, 200)[0] > 0);
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void whenAllAreFullThereIsNone(BalancePolicy policy) {
        EndpointList endpoints = new EndpointList(List.of(endpoint("a", 1, 1), endpoint("b", 1, 2)));

        assertEquals(3, pickAndHold(policy, endpoints, 3).size());

        assertEquals(Picker.NONE, Pickers.of(policy).pick(endpoints, Tried.NOTHING, random));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void weightZeroGetsNothing(BalancePolicy policy) {
        EndpointList endpoints = weighted(0, 1, 0, 1);

        int[] picked = pickAndLetGo(policy, endpoints, 2_000);

        assertEquals(0, picked[0]);
        assertEquals(0, picked[2]);
        assertEquals(2_000, picked[1] + picked[3]);
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void allWeightsZeroOrNoEndpointAtAllGiveNone(BalancePolicy policy) {
        assertEquals(Picker.NONE, Pickers.of(policy).pick(weighted(0, 0, 0), Tried.NOTHING, random));
        assertEquals(Picker.NONE, Pickers.of(policy).pick(weighted(), Tried.NOTHING, random));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void whatWasTriedIsLeftOut(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 1000, 1);
        Tried tried = new Tried();
        Picker picker = Pickers.of(policy);
        tried.add(1);
        for (int i = 0; i < 200; i++) {
            assertNotEquals(1, picker.pick(endpoints, tried, random));
        }
        tried.add(0);
        assertEquals(2, picker.pick(endpoints, tried, random));
        tried.add(2);
        assertEquals(Picker.NONE, picker.pick(endpoints, tried, random));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void anUnresolvedNameIsNotPickedBeforeItsAddressIsKnown(BalancePolicy policy) {
        Endpoint named = new Endpoint("n", 1, Integer.MAX_VALUE, new EndpointCell("back", "n:80", 0, List.of()));
        EndpointList endpoints = new EndpointList(List.of(named));
        assertEquals(Picker.NONE, Pickers.of(policy).pick(endpoints, Tried.NOTHING, random));

        named.cell().resolve(List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 80)));

        assertEquals(0, Pickers.of(policy).pick(endpoints, Tried.NOTHING, random));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void tenThousandEndpointsArePickedFromQuickly(BalancePolicy policy) {
        EndpointList endpoints =
                weighted(IntStream.range(0, 10_000).map(i -> 1 + i % 7).toArray());
        Picker picker = Pickers.of(policy);
        boolean looksAtAll = policy == BalancePolicy.LEAST_CONNECTIONS || policy == BalancePolicy.ROUND_ROBIN;
        int picks = looksAtAll ? 500 : 50_000;

        // A bound for a busy machine; what it must catch is a picker that is quadratic, or linear where it need not be.
        assertTimeout(Duration.ofSeconds(20), () -> {
            for (int i = 0; i < picks; i++) {
                assertTrue(picker.pick(endpoints, Tried.NOTHING, random) >= 0);
            }
        });
    }

    @Test
    void roundRobinChangesBetweenLongListsQuickly() {
        Picker picker = Pickers.of(BalancePolicy.ROUND_ROBIN);
        EndpointList one = weighted(new int[10_000]);
        EndpointList other = weighted(IntStream.range(0, 10_000).map(i -> 1).toArray());

        // Connections that retry follow the snapshot they began with, so both lists may be asked for in turn.
        assertTimeout(Duration.ofSeconds(20), () -> {
            for (int i = 0; i < 50; i++) {
                assertEquals(Picker.NONE, picker.pick(one, Tried.NOTHING, random));
                assertTrue(picker.pick(other, Tried.NOTHING, random) >= 0);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void theLastWithRoomAmongManyIsFound(BalancePolicy policy) {
        List<Endpoint> list = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            list.add(endpoint("e" + i, 1, 1));
        }
        EndpointList endpoints = new EndpointList(list);
        for (int i = 0; i < 1_000; i++) {
            if (i != 777) {
                hold(endpoints, i, 1);
            }
        }

        assertEquals(777, Pickers.of(policy).pick(endpoints, Tried.NOTHING, random));
    }

    // ---- shares of less than the whole, and unfit endpoints

    /** In the long run a pick that lets go at once follows weight × share where the policy draws by weight. */
    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"RANDOM", "ROUND_ROBIN"})
    void sharesOfASlowStartScaleWeights(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 2, 7, 10);
        share(endpoints, 2, 100);
        share(endpoints, 3, 200);
        double sum = 1 + 2 + 0.7 + 2;

        int[] picked = pickAndLetGo(policy, endpoints, 100_000);

        assertEquals(1 / sum, picked[0] / 1e5, 0.006);
        assertEquals(2 / sum, picked[1] / 1e5, 0.006);
        assertEquals(0.7 / sum, picked[2] / 1e5, 0.006);
        assertEquals(2 / sum, picked[3] / 1e5, 0.006);
    }

    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"LEAST_CONNECTIONS", "POWER_OF_TWO", "ROUND_ROBIN"})
    void heldConnectionsFollowWeightsTimesShares(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 2, 7, 10);
        share(endpoints, 2, 100);
        share(endpoints, 3, 200);

        pickAndHold(policy, endpoints, 5_700);

        assertEquals(1_000, inFlight(endpoints, 0), 30);
        assertEquals(2_000, inFlight(endpoints, 1), 30);
        assertEquals(700, inFlight(endpoints, 2), 30);
        assertEquals(2_000, inFlight(endpoints, 3), 30);
    }

    /** With nobody in flight a beginner gets some by its share, and not nothing until it has its whole one. */
    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"LEAST_CONNECTIONS", "POWER_OF_TWO"})
    void amongTheIdleABeginnerGetsItsShare(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 1, 1, 1);
        share(endpoints, 2, 500);

        int[] picked = pickAndLetGo(policy, endpoints, 100_000);

        assertTrue(picked[2] >= 12_000 && picked[2] <= 18_000, policy + " gave the beginner " + picked[2]);
    }

    /** A floor below the shares of the others must neither be lifted, nor be nothing. */
    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void ofFiftyOneABeginnerGetsAHundredthOfAFairShareAndItsWholeOneInTheEnd(BalancePolicy policy) {
        EndpointList endpoints = weighted(IntStream.range(0, 51).map(i -> 1).toArray());
        share(endpoints, 17, 10);
        int picks = 204_000; // 4,000 for each, about 40 for the beginner

        int[] beginning = pickAndHoldApart(policy, endpoints, picks);
        share(endpoints, 17, Fitness.FULL_SHARE);
        int[] grown = pickAndHoldApart(policy, endpoints, picks);

        assertTrue(beginning[17] >= 20 && beginning[17] <= 80, policy + " gave the beginner " + beginning[17]);
        assertEquals(4_000, grown[17], 250, policy + " gave the grown one " + grown[17]);
    }

    /** A cold endpoint looks idle; that must not bring it all that comes. */
    @ParameterizedTest
    @EnumSource(
            value = BalancePolicy.class,
            names = {"LEAST_CONNECTIONS", "POWER_OF_TWO"})
    void aBeginnerThatLooksIdleIsNotRushed(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 1, 1, 1);
        for (int i = 0; i < 3; i++) {
            hold(endpoints, i, 100);
        }
        share(endpoints, 3, 100);

        pickAndHold(policy, endpoints, 100);

        assertTrue(inFlight(endpoints, 3) <= 15, "it got " + inFlight(endpoints, 3));
        assertTrue(inFlight(endpoints, 3) >= 3, "it got " + inFlight(endpoints, 3));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void evenTheLeastShareOfOneThousandthIsPickedWhenThereIsNoOther(BalancePolicy policy) {
        EndpointList endpoints = weighted(1);
        share(endpoints, 0, 1);

        assertEquals(List.of(200), boxed(pickAndLetGo(policy, endpoints, 200)));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void whatIsUnfitIsLeftOut(BalancePolicy policy) {
        for (Unfit why : Unfit.values()) {
            EndpointList endpoints = weighted(1, 1, 1);
            endpoints.at(1).cell().fitness().set(why, true);

            int[] picked = pickAndLetGo(policy, endpoints, 300);

            assertEquals(0, picked[1], why.toString());
            assertTrue(picked[0] > 100 && picked[2] > 100, why + " " + Arrays.toString(picked));
        }
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void whenAllAreUnfitThereIsNone(BalancePolicy policy) {
        EndpointList endpoints = weighted(1, 1);
        endpoints.at(0).cell().fitness().set(Unfit.DOWN, true);
        endpoints.at(1).cell().fitness().set(Unfit.EJECTED, true);

        assertEquals(Picker.NONE, Pickers.of(policy).pick(endpoints, Tried.NOTHING, random));
    }

    @ParameterizedTest
    @EnumSource(BalancePolicy.class)
    void inPanicUnfitOnesArePickedAndThoseThatTakeNoneAreNot(BalancePolicy policy) {
        BackendCell backend = new BackendCell("back", 0);
        List<Endpoint> list = new ArrayList<>();
        for (Unfit why : Unfit.values()) {
            Endpoint unfit = endpoint(why.word(), 1, Integer.MAX_VALUE);
            unfit.cell().fitness().set(why, true);
            list.add(unfit);
        }
        list.add(endpoint("fit", 1, Integer.MAX_VALUE));
        int candidates = list.size();
        for (Closed why : List.of(Closed.DRAINING, Closed.DISABLED, Closed.REMOVED)) {
            Endpoint closed = endpoint(why.name(), 1, Integer.MAX_VALUE);
            closed.cell().close(why, true);
            list.add(closed);
        }
        list.add(endpoint("weightless", 0, Integer.MAX_VALUE));
        Endpoint full = endpoint("full", 1, 1);
        assertTrue(full.tryAcquire());
        list.add(full);
        list.add(new Endpoint("unresolved", 1, 1, new EndpointCell("back", "unresolved", 0, List.of())));
        EndpointList endpoints = new EndpointList(list, backend);
        backend.panic(true, true);

        int[] picked = pickAndLetGo(policy, endpoints, candidates * 1_000);

        for (int i = 0; i < picked.length; i++) {
            int expected = i < candidates ? 1_000 : 0;
            assertEquals(
                    expected,
                    picked[i],
                    expected / 8.0,
                    policy + " " + list.get(i).name());
        }
    }

    private static void share(EndpointList endpoints, int index, int thousandths) {
        endpoints.at(index).cell().fitness().share(thousandths);
    }

    /** Holds all that are picked to the end, and then lets all go. */
    private int[] pickAndHoldApart(BalancePolicy policy, EndpointList endpoints, int times) {
        Picker picker = Pickers.of(policy);
        int[] picked = new int[endpoints.size()];
        for (int i = 0; i < times; i++) {
            int index = picker.pick(endpoints, Tried.NOTHING, random);
            hold(endpoints, index, 1);
            picked[index]++;
        }
        for (int i = 0; i < picked.length; i++) {
            for (int n = 0; n < picked[i]; n++) {
                endpoints.at(i).cell().release();
            }
        }
        return picked;
    }

    private static List<Integer> boxed(int[] numbers) {
        return Arrays.stream(numbers).boxed().toList();
    }

    private int[] pickAndLetGo(BalancePolicy policy, EndpointList endpoints, int times) {
        Picker picker = Pickers.of(policy);
        int[] picked = new int[endpoints.size()];
        for (int i = 0; i < times; i++) {
            picked[picker.pick(endpoints, Tried.NOTHING, random)]++;
        }
        return picked;
    }

    private List<Integer> pickAndHold(BalancePolicy policy, EndpointList endpoints, int times) {
        Picker picker = Pickers.of(policy);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            int index = picker.pick(endpoints, Tried.NOTHING, random);
            hold(endpoints, index, 1);
            order.add(index);
        }
        return order;
    }

    private String order(Picker picker, EndpointList endpoints, int times) {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < times; i++) {
            names.append(
                    endpoints.at(picker.pick(endpoints, Tried.NOTHING, random)).name());
        }
        return names.toString();
    }

    private static int longestRun(List<Integer> order) {
        int longest = 0;
        int run = 0;
        for (int i = 0; i < order.size(); i++) {
            run = i > 0 && order.get(i).equals(order.get(i - 1)) ? run + 1 : 1;
            longest = Math.max(longest, run);
        }
        return longest;
    }

    private static void hold(EndpointList endpoints, int index, int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(endpoints.at(index).tryAcquire());
        }
    }

    private static int inFlight(EndpointList endpoints, int index) {
        return endpoints.at(index).cell().inFlight();
    }

    private static EndpointList weighted(int... weights) {
        List<Endpoint> list = new ArrayList<>();
        for (int i = 0; i < weights.length; i++) {
            list.add(endpoint(i < 26 ? String.valueOf((char) ('a' + i)) : "e" + i, weights[i], Integer.MAX_VALUE));
        }
        return new EndpointList(list);
    }

    private static Endpoint endpoint(String name, int weight, int maxConnections) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080);
        return new Endpoint(name, weight, maxConnections, new EndpointCell("back", name, 0, List.of(address)));
    }
}
