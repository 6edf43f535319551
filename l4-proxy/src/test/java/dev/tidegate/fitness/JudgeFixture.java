package dev.tidegate.fitness;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.balance.Pickers;
import dev.tidegate.fitness.FitnessPolicy.Breaker;
import dev.tidegate.fitness.FitnessPolicy.Outlier;
import dev.tidegate.fitness.FitnessPolicy.Panic;
import dev.tidegate.fitness.FitnessPolicy.SlowStart;
import dev.tidegate.model.Backend;
import dev.tidegate.model.BackendCell;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.EndpointWatch;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness.Unfit;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Retries;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** A judge with time and chance in the hand, what it has told, and what it is told. */
abstract class JudgeFixture {
    static final long MILLI = 1_000_000L;
    static final long SECOND = 1_000 * MILLI;
    static final long START = 77 * SECOND;
    static final long BASE_SECONDS = 30;
    static final Panic NEVER = new Panic(0, true);
    static final Breaker BREAKER = new Breaker(3, 10 * SECOND, 2);
    static final SlowStart SLOW = new SlowStart(100 * SECOND, 1, 10);

    long now = START;
    double chance; // 0 to 1: where in the jitter a return falls
    final List<String> told = new ArrayList<>();
    final Counted counted = new Counted();
    final Judge judge = judge(new RandomGenerator() {
        @Override
        public long nextLong() {
            throw new UnsupportedOperationException("only the jitter of returns is drawn");
        }

        @Override
        public double nextDouble() {
            return chance;
        }
    });
    final BackendCell cell = new BackendCell("back", 0);
    EndpointWatch watch;
    FitnessPolicy policy;

    Judge judge(RandomGenerator random) {
        return new Judge(() -> now, this::instant, random, new Told(), counted, Runnable::run);
    }

    Instant instant() {
        return Instant.EPOCH.plusNanos(now - START);
    }

    EndpointCell[] start(Outlier outlier, int endpoints) {
        EndpointCell[] e = cells(endpoints);
        follow(true, policy(outlier, null, null), e);
        return e;
    }

    static EndpointCell[] cells(int count) {
        EndpointCell[] cells = new EndpointCell[count];
        Arrays.setAll(
                cells,
                i -> new EndpointCell(
                        "back",
                        "e" + i,
                        i,
                        List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 7_000 + i))));
        return cells;
    }

    static Outlier outlier(int failuresInRow, int maxEjected) {
        return new Outlier(
                failuresInRow, 0, 20, 10 * SECOND, 0, BASE_SECONDS * SECOND, 10 * BASE_SECONDS * SECOND, maxEjected);
    }

    static FitnessPolicy policy(Outlier outlier, Breaker breaker, SlowStart slow) {
        return new FitnessPolicy(
                false,
                Optional.empty(),
                Optional.ofNullable(outlier),
                Optional.ofNullable(breaker),
                Optional.ofNullable(slow),
                NEVER);
    }

    static FitnessPolicy checked(Unfit initial, Outlier outlier, Panic panic) {
        return new FitnessPolicy(
                true,
                Optional.ofNullable(initial),
                Optional.ofNullable(outlier),
                Optional.empty(),
                Optional.empty(),
                panic);
    }

    static FitnessPolicy slowAndChecked(Unfit initial) {
        return new FitnessPolicy(
                true, Optional.ofNullable(initial), Optional.empty(), Optional.empty(), Optional.of(SLOW), NEVER);
    }

    void follow(boolean atStart, FitnessPolicy next, EndpointCell... endpoints) {
        follow(judge, atStart, next, endpoints);
    }

    void follow(Judge by, boolean atStart, FitnessPolicy next, EndpointCell... endpoints) {
        policy = next;
        watch = by.watch("back", next);
        List<Endpoint> list = Arrays.stream(endpoints)
                .map(one -> new Endpoint(one.address(), 1, Integer.MAX_VALUE, one))
                .toList();
        Backend backend = new Backend(
                cell,
                BalancePolicy.ROUND_ROBIN,
                Pickers.of(BalancePolicy.ROUND_ROBIN),
                new EndpointList(list, cell),
                new ConnectPolicy(2 * SECOND, 3, 5 * SECOND, ProxyProtocol.OFF),
                Retries.UNBOUNDED,
                watch);
        by.follow(List.of(backend), Map.of("back", next), atStart);
    }

    void check(EndpointCell endpoint, Unfit unfit) {
        judge.onChecked(endpoint, unfit, () -> {});
    }

    void fail(EndpointCell endpoint, int times) {
        fail(endpoint, times, Failure.REFUSED);
    }

    void fail(EndpointCell endpoint, int times, Failure kind) {
        for (int i = 0; i < times; i++) {
            watch.onFailure(endpoint, kind);
        }
    }

    void pass(Duration time) {
        pass(judge, time);
    }

    void pass(Judge by, Duration time) {
        now += time.toNanos();
        by.tick();
    }

    long ejectAndReturn(EndpointCell endpoint) {
        return ejectAndReturn(endpoint, 3);
    }

    long ejectAndReturn(EndpointCell endpoint, int failures) {
        return ejectAndReturn(judge, endpoint, failures);
    }

    /** Ejects it, sees it back to the nanosecond, and tells how long it was out. */
    long ejectAndReturn(Judge by, EndpointCell endpoint, int failures) {
        fail(endpoint, failures);
        assertTrue(endpoint.fitness().unfit(Unfit.EJECTED));
        long lasts = Duration.between(instant(), by.standing(endpoint).ejectedUntil())
                .toNanos();
        pass(by, Duration.ofNanos(lasts - 1));
        assertTrue(endpoint.fitness().unfit(Unfit.EJECTED), "a moment before its time is over");
        pass(by, Duration.ofNanos(1));
        assertFalse(endpoint.fitness().unfit(Unfit.EJECTED), "its time is over");
        assertNull(by.standing(endpoint).ejectedUntil());
        return lasts;
    }

    static long count(EndpointCell[] endpoints, Unfit why) {
        return Arrays.stream(endpoints).filter(one -> one.fitness().unfit(why)).count();
    }

    final class Told implements Chronicle {
        @Override
        public void onEndpoint(EndpointCell endpoint, Change change, String why) {
            told.add(change.word() + " " + endpoint.address() + ": " + why);
        }

        @Override
        public void onPanic(String backend, boolean panic, int fit, int of) {
            told.add("panic of " + backend + (panic ? " begins: " : " ends: ") + fit + " of " + of);
        }
    }

    /** What workers would have counted. */
    static final class Counted implements Tally {
        private final IdentityHashMap<EndpointCell, long[]> counts = new IdentityHashMap<>();

        void add(EndpointCell endpoint, long answered, long failures) {
            long[] both = counts.computeIfAbsent(endpoint, missing -> new long[2]);
            both[0] += answered;
            both[1] += failures;
        }

        @Override
        public long answered(EndpointCell endpoint) {
            return counts.getOrDefault(endpoint, new long[2])[0];
        }

        @Override
        public long failures(EndpointCell endpoint) {
            return counts.getOrDefault(endpoint, new long[2])[1];
        }
    }
}
