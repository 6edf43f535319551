package dev.tidegate.cli;

import dev.tidegate.admin.AdminServer;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.UpgradeView;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.Upgrades;
import dev.tidegate.handover.Giver;
import dev.tidegate.handover.HandOverServer;
import dev.tidegate.handover.HandedSocket;
import dev.tidegate.handover.HandedSocket.User;
import dev.tidegate.listener.TransportChoice;
import io.netty.channel.IoHandlerFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How this process gives way to the next one: it can be asked for its sockets, and it can start the next one itself.
 *
 * <p>Any thread.
 */
final class HandOver implements Giver, Upgrades, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(HandOver.class);

    /** So long the next process may take from its start to being ready. */
    private static final long PATIENCE_SECONDS = 150;

    private static final String STOPPING = "it was asked to stop meanwhile";

    private static final long SELF = ProcessHandle.current().pid();

    private final Proxy proxy;
    private final LongConsumer whenHandedOver;
    private final Runnable whenReloadMissed;
    private AdminServer admin; // set once, before anyone can ask
    private volatile HandOverServer server; // writer: whoever starts the process; null where there is none
    private Relaunch relaunch;
    private volatile Relaunch.Next next; // writers: guarded by the monitor; the last that was started; null before
    private String impossible = "the process is starting";
    private final AtomicReference<UpgradeView> view = new AtomicReference<>(new UpgradeView(SELF, "none", null, ""));

    /**
     * @param proxy whose sockets they are
     * @param whenHandedOver told the process that has taken over, once this one accepts no more
     * @param whenReloadMissed run when this one goes on after all, and has refused a reload meanwhile
     */
    HandOver(Proxy proxy, LongConsumer whenHandedOver, Runnable whenReloadMissed) {
        this.whenReloadMissed = whenReloadMissed;
        this.proxy = proxy;
        this.whenHandedOver = whenHandedOver;
    }

    /**
     * From now on it can be asked.
     *
     * @param where empty when there is no place for it
     * @param arguments what this process was started with
     */
    synchronized void serve(Optional<Path> where, AdminServer its, List<String> arguments) {
        admin = its;
        Optional<IoHandlerFactory> epoll = TransportChoice.epollHandlers();
        if (SELF == 1) {
            impossible = "this is process 1 of its container, with which all others end; replace the container instead";
            log.debug("no upgrade without a gap: {}", impossible);
            return;
        }
        if (where.isEmpty() || epoll.isEmpty() || !proxy.handsOver()) {
            impossible = where.isEmpty()
                    ? "there is no directory for the hand-over socket; set RUNTIME_DIRECTORY, XDG_RUNTIME_DIR or a UNIX"
                            + " socket in admin.listen"
                    : "they need the transport epoll; set process.transport auto or epoll, and restart";
            log.debug("no upgrade without a gap: {}", impossible);
            return;
        }
        try {
            relaunch = Relaunch.of(arguments, where.get());
            HandOverServer open = HandOverServer.open(where.get(), epoll.get(), this);
            server = open;
            impossible = "";
            var unused = proxy.stopBegun().thenRun(() -> open.refuse(STOPPING));
            log.debug("hand-over socket {}", where.get());
        } catch (IOException cannot) {
            impossible = "the hand-over socket " + where.get() + " cannot be had: " + cannot.getMessage();
            log.warn("no upgrade without a gap: {}", impossible);
        }
    }

    // ---- asked for by an operator

    /** Not under the monitor, which is held while a process is started. */
    @Override
    public UpgradeView view() {
        return view.get();
    }

    @Override
    public synchronized Outcome begin(boolean dryRun) {
        long generation = proxy.snapshot().generation();
        if (!impossible.isEmpty()) {
            return refused("upgrades are not possible here: " + impossible);
        }
        UpgradeView last = view.get();
        if (last.state().equals("running") || last.state().equals("done")) {
            return refused("an upgrade is under way already, by process " + last.next() + "; wait for it");
        }
        if (proxy.phase() != Proxy.Phase.RUNNING) {
            return refused("the process is stopping; start it again instead");
        }
        if (dryRun) {
            return new Outcome.Compared(new DiffView(generation, List.of()));
        }
        try {
            next = relaunch.start();
        } catch (IOException cannot) {
            log.error("upgrade failed: {}", cannot.getMessage());
            return refused("the next process cannot be started: " + cannot.getMessage());
        }
        log.info("upgrade: process {} is to take over", next.pid());
        UpgradeView running = new UpgradeView(SELF, "running", next.pid(), "");
        view.set(running);
        Relaunch.Next started = next;
        var ended = started.child().onExit().thenAccept(child -> onEnded(started));
        var late = CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        late.execute(() -> onLate(started));
        assert !ended.isCancelled();
        return new Outcome.Done(generation, List.of(), running);
    }

    private static Outcome refused(String why) {
        return new Outcome.Refused(Outcome.Why.CONFLICT, why, List.of());
    }

    private void onEnded(Relaunch.Next started) {
        int exit = started.child().exitValue();
        failed(
                started,
                "process " + started.pid() + " ended with exit code " + exit
                        + (exit == Exit.CONFIG
                                ? ": the configuration is missing or invalid, `tidegate check` tells more"
                                : "; the log has its words"));
    }

    private void onLate(Relaunch.Next started) {
        if (proxy.phase() == Proxy.Phase.RUNNING
                && failed(started, "process " + started.pid() + " was not ready within " + PATIENCE_SECONDS + " s")) {
            started.itself().destroyForcibly();
        }
    }

    /** Whether that is what came of it, and nothing else had before. */
    private boolean failed(Relaunch.Next started, String why) {
        UpgradeView last = view.get();
        boolean running = last.state().equals("running")
                && last.next() == started.pid()
                && view.compareAndSet(last, new UpgradeView(SELF, "failed", started.pid(), why));
        if (running) {
            log.error(
                    "upgrade failed, this process {}: {}",
                    proxy.phase() == Proxy.Phase.RUNNING ? "goes on" : "stops",
                    why);
        }
        return running;
    }

    // ---- asked for by the next process

    @Override
    public CompletionStage<List<HandedSocket>> give() {
        return proxy.giveAway().thenApply(sockets -> {
            if (sockets.isEmpty()) {
                throw new IllegalStateException(
                        "it is starting or stopping, or its transport is not epoll, which alone can"
                                + " hand sockets over; restart it instead");
            }
            List<HandedSocket> all = new ArrayList<>();
            sockets.get()
                    .forEach(each -> all.add(new HandedSocket(User.FRONTEND, each.name(), each.place(), each.fd())));
            admin.descriptors()
                    .forEach(each -> all.add(new HandedSocket(User.ADMIN, each.name(), each.asked(), each.fd())));
            return all;
        });
    }

    @Override
    public void goOn() {
        var unused = proxy.goOn().thenAccept(missed -> {
            if (missed) {
                whenReloadMissed.run();
            }
        });
    }

    /** Whether it gives way is control's to say, who hears of a stop: what comes first holds. */
    @Override
    public CompletionStage<Void> taken(long pid) {
        return proxy.giveWay()
                .thenCompose(gives ->
                        gives ? leaveTo(pid) : CompletableFuture.failedFuture(new IllegalStateException(STOPPING)));
    }

    /**
     * In this order: once it accepts no more, a process without connections ends, and none of the rest would be done. From
     * here there is no way back: what fails is told, and what is left is done.
     */
    private CompletionStage<Void> leaveTo(long pid) {
        return CompletableFuture.runAsync(() -> {
                    attempt("the admin API's sockets are given up", admin::giveUp);
                    attempt("the next process is let go", () -> done(pid).ifPresent(Relaunch.Next::release));
                    attempt("the service manager is told", () -> whenHandedOver.accept(pid));
                })
                .thenCompose(done -> proxy.handOver());
    }

    private static void attempt(String what, Runnable step) {
        try {
            step.run();
        } catch (Throwable fault) {
            log.error("a step of the hand-over failed by a fault of our own: {}", what, fault);
        }
    }

    /** The process that this one has started, if it is that. */
    private Optional<Relaunch.Next> done(long pid) {
        view.set(new UpgradeView(SELF, "done", pid, ""));
        return Optional.ofNullable(next).filter(each -> each.pid() == pid);
    }

    @Override
    public void close() {
        HandOverServer open = server;
        if (open != null) {
            open.close();
        }
    }
}
