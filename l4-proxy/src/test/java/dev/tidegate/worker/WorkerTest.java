package dev.tidegate.worker;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.LeakGuard;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkerTest {
    private final Worker worker = new Worker(
            0,
            System::nanoTime,
            RandomGenerator.getDefault(),
            NioIoHandler.newFactory(),
            handlers -> new SingleThreadIoEventLoop(null, new DefaultThreadFactory("worker-test", true), handlers));

    @AfterEach
    void stop() {
        worker.loop().shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    @Test
    void aDeadlineThatFailsDoesNotStopTheOthers() {
        LeakGuard.installed().expect("a deadline failed, .* thrown on purpose by a test");
        AtomicBoolean fired = new AtomicBoolean();
        worker.loop().execute(() -> {
            long now = worker.nowNanos();
            worker.deadlines().arm(now, due -> {
                throw new IllegalStateException("thrown on purpose by a test");
            });
            worker.deadlines().arm(now + 50_000_000, due -> fired.set(true));
        });
        Await.until("the second deadline", fired::get);
    }

    @Test
    void theWheelTurnsAgainAfterItWasEmpty() {
        for (int round = 0; round < 3; round++) {
            AtomicBoolean fired = new AtomicBoolean();
            worker.loop().execute(() -> worker.deadlines().arm(worker.nowNanos(), due -> fired.set(true)));
            Await.until("deadline " + round, fired::get);
            Await.until(
                    "an empty wheel",
                    () -> worker.loop()
                            .submit(() -> worker.deadlines().isEmpty())
                            .awaitUninterruptibly()
                            .getNow());
        }
    }
}
