package dev.tidegate.cli;

import dev.tidegate.cli.DemoClient.Habit;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * Clients of the demo that connect to the same place.
 *
 * <p>Used by the demo's thread; the clients live on the demo's loop.
 */
final class DemoCrowd {
    /** How many there are in the large crowd. */
    static final int SIZE = 24;

    /** How many there are in a small one. */
    static final int FEW = 8;

    private static final long LAST_ANSWERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final EventLoop loop;
    private final DemoTotals totals = new DemoTotals();
    private final List<DemoClient> clients = new ArrayList<>();

    /**
     * @param loop where the clients live
     * @param balancer where they connect
     * @param random used on the loop only
     */
    private DemoCrowd(EventLoop loop, InetSocketAddress balancer, RandomGenerator random, List<Habit> habits) {
        this.loop = loop;
        habits.forEach(habit -> clients.add(new DemoClient(loop, balancer, habit, random, totals)));
    }

    /** The large crowd: every second one stays on one connection, the others come and go. */
    static DemoCrowd mixed(EventLoop loop, InetSocketAddress balancer, RandomGenerator random) {
        List<Habit> habits = IntStream.range(0, SIZE)
                .mapToObj(i -> i % 2 == 1 ? Habit.ROAMS : Habit.READS)
                .toList();
        return new DemoCrowd(loop, balancer, random, habits);
    }

    /** A few that never leave by themselves, as clients of gRPC do not. */
    static DemoCrowd sticky(EventLoop loop, InetSocketAddress balancer, RandomGenerator random) {
        return new DemoCrowd(loop, balancer, random, Collections.nCopies(FEW, Habit.STICKS));
    }

    void start() {
        clients.forEach(DemoClient::start);
    }

    /** What they saw so far. */
    DemoTotals.View totals() {
        return totals.view();
    }

    /**
     * Lets nobody come until {@link #release}.
     *
     * @return whether nobody is on the way either: everyone has had an answer on its connection, or is away
     */
    boolean tryHold() {
        return loop.submit(() -> {
                    clients.forEach(client -> client.hold(true));
                    return clients.stream().noneMatch(DemoClient::isArriving);
                })
                .awaitUninterruptibly()
                .getNow();
    }

    /** Lets everybody come again. */
    void release() {
        loop.execute(() -> clients.forEach(client -> client.hold(false)));
    }

    /** Lets every client leave with the answer to what it has asked, and waits for that, within bounds. */
    void leave() {
        long deadline = System.nanoTime() + LAST_ANSWERS_NANOS;
        List<Future<Void>> leaving = clients.stream().map(DemoClient::postStop).toList();
        for (Future<Void> gone : leaving) {
            gone.awaitUninterruptibly(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        }
    }
}
