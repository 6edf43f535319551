package dev.tidegate.simulation;

import dev.tidegate.control.Threads;
import dev.tidegate.health.HealthChecker;
import dev.tidegate.health.HealthListener;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;

/** The loops of a balancer, all of them on the thread of the simulation. */
final class OneThread implements Threads {
    private final SimNetwork network;
    private final InstantSource clock;
    private final List<SimLoop> loops = new ArrayList<>();

    OneThread(SimNetwork network, InstantSource clock) {
        this.network = network;
        this.clock = clock;
    }

    /** Those that there are, in the order in which they were asked for. */
    List<SimLoop> loops() {
        return loops;
    }

    @Override
    public ScheduledExecutorService control() {
        return loop("control", SimLoop.NO_IO);
    }

    @Override
    public IoEventLoop worker(int index, IoHandlerFactory handlers) {
        return loop("worker " + index, handlers);
    }

    @Override
    public HealthChecker checker(HealthChecker.Settings with, HealthListener listener) {
        HealthChecker.Io io = new HealthChecker.Io(SimLoop.NO_IO, () -> new SimSocket(network));
        return new HealthChecker(
                new HealthChecker.Settings(with.nanoTime(), clock, with.random(), io),
                listener,
                loop("checks", SimLoop.NO_IO));
    }

    /** They have nothing left to do, or the checks after the run find it. */
    @Override
    public int end(List<EventLoop> workers, long lastCompletionsMillis) {
        return 0;
    }

    private SimLoop loop(String name, IoHandlerFactory io) {
        SimLoop loop = new SimLoop(name, io, network.time());
        loops.add(loop);
        return loop;
    }
}
