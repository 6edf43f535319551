package dev.tidegate.listener;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.connection.ConnectionContext;
import dev.tidegate.connection.ConnectionFactory;
import dev.tidegate.worker.Worker;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** envoyproxy/envoy#4602, envoyproxy/envoy#33707: few long connections piled up on some of the workers. */
class PlacementTest {
    private final List<Worker> workers = new ArrayList<>();

    @AfterEach
    void endLoops() {
        workers.forEach(worker -> worker.loop().shutdownGracefully(0, 0, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void noTwoOfTheFirstConnectionsShareAWorkerWhoeverAcceptsThem(int count) {
        for (int own = 0; own < count; own++) {
            Placement placement = placement(count);
            for (int i = 0; i < count; i++) {
                place(placement, own);
            }
            assertEquals(
                    List.of(1), workers.stream().map(Worker::load).distinct().toList());
        }
    }

    @Test
    void theWorkerThatAcceptedIsTakenWhenNoneHasLess() {
        Placement placement = placement(4);

        assertEquals(2, placement.take(2).context().worker().index());
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 1_000})
    void loadsStayEvenWhileConnectionsComeAndGo(int count) {
        Placement placement = placement(4);
        RandomGenerator random =
                RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(9);
        List<Worker> held = new ArrayList<>();
        for (int step = 0; step < 20 * count; step++) {
            if (held.size() < count) {
                held.add(place(placement, random.nextInt(4)));
            } else {
                int leaver = random.nextInt(held.size());
                held.get(leaver).takeLoadOff();
                held.remove(leaver);
            }
        }

        int greatest = workers.stream().mapToInt(Worker::load).max().orElseThrow();
        assertTrue(greatest <= 1.25 * held.size() / 4, "greatest " + greatest + " of " + held.size());
    }

    /** Several listeners accept at the same moment: what one has just given out, the other must see. */
    @Test
    @Tag("slow")
    void acceptorsThatWorkAtTheSameMomentDoNotTakeTheSameIdleWorker() throws Exception {
        int count = 4;
        Placement placement = placement(count);
        for (int round = 0; round < 300; round++) {
            CyclicBarrier together = new CyclicBarrier(count);
            List<Thread> acceptors = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                // Each prefers the same worker, as listeners on one worker's port do.
                Thread acceptor = new Thread(() -> {
                    try {
                        together.await();
                    } catch (Exception e) {
                        throw new IllegalStateException("the others did not come", e);
                    }
                    place(placement, 0);
                });
                acceptors.add(acceptor);
                acceptor.start();
            }
            for (Thread acceptor : acceptors) {
                acceptor.join();
            }
            assertEquals(List.of(1, 1, 1, 1), workers.stream().map(Worker::load).toList(), "round " + round);
            workers.forEach(Worker::takeLoadOff);
        }
    }

    private static Worker place(Placement placement, int own) {
        return placement.take(own).context().worker();
    }

    private Placement placement(int count) {
        endLoops();
        workers.clear();
        List<ConnectionFactory> factories = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Worker worker = new Worker(
                    i,
                    System::nanoTime,
                    RandomGeneratorFactory.of("Xoroshiro128PlusPlus").create(i),
                    NioIoHandler.newFactory(),
                    handlers ->
                            new SingleThreadIoEventLoop(null, new DefaultThreadFactory("placement", true), handlers));
            workers.add(worker);
            factories.add(
                    new ConnectionFactory(new ConnectionContext(worker, null, null, null, null, null), () -> null));
        }
        return new Placement(factories);
    }
}
