package dev.tidegate.connection;

import dev.tidegate.admission.Admission;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.Snapshot;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.FrontendRow;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.util.function.Supplier;

/**
 * Makes connections of accepted channels, on one worker.
 *
 * <p>Confined to that worker's loop, but for {@link #postAccepted}.
 */
public final class ConnectionFactory {
    private final ConnectionContext context;
    private final Supplier<Snapshot> snapshots;

    /**
     * @param context what the worker's connections share
     * @param snapshots the newest snapshot; asked once a connection
     */
    public ConnectionFactory(ConnectionContext context, Supplier<Snapshot> snapshots) {
        this.context = context;
        this.snapshots = snapshots;
    }

    /** The shared context. */
    public ConnectionContext context() {
        return context;
    }

    /**
     * Hands an accepted channel over to the worker, on whose load it is counted already. Any thread.
     *
     * @param listenerKey which frontend's it is, see {@link Snapshot#listenerKey}
     * @param listener the listener's address, for the access log
     */
    public void postAccepted(Channel channel, String listenerKey, String listener) {
        if (context.worker().inLoop()) {
            open(channel, listenerKey, listener);
        } else {
            context.worker().loop().execute(() -> open(channel, listenerKey, listener));
        }
    }

    private void open(Channel channel, String listenerKey, String listener) {
        Snapshot snapshot = snapshots.get();
        Frontend frontend = snapshot.frontendAt(listenerKey);
        if (frontend == null) {
            // A reload took the listener away between the accept and here: as refused as what comes a moment later.
            reject(channel);
            context.worker().takeLoadOff();
            return;
        }
        FrontendRow row = context.worker().counters().frontend(frontend.cell().slot());
        row.accepted++;
        Admission.Verdict verdict = context.admission().admit(frontend);
        if (verdict != Admission.Verdict.ADMITTED) {
            reject(channel);
            context.worker().takeLoadOff();
            row.countClosed(CloseReason.REJECTED_LIMIT);
            context.floods()
                    .count(
                            FloodLog.Kind.REJECTED_LIMIT,
                            verdict == Admission.Verdict.PROCESS_FULL ? "process" : frontend.name());
            return;
        }
        start(channel, frontend, listener, snapshot.generation(), row);
    }

    private void start(Channel channel, Frontend frontend, String listener, long generation, FrontendRow row) {
        Connection connection;
        try {
            connection = new Connection(context, channel, frontend, listener, generation);
        } catch (RuntimeException fault) {
            fault(frontend, fault);
            reject(channel);
            context.admission().leave(frontend);
            context.worker().takeLoadOff();
            row.countClosed(CloseReason.INTERNAL_ERROR);
            return;
        }
        try {
            connection.start();
        } catch (RuntimeException fault) {
            fault(frontend, fault);
            connection.abort(CloseReason.INTERNAL_ERROR);
        }
    }

    private void fault(Frontend frontend, RuntimeException fault) {
        context.floods().count(FloodLog.Kind.INTERNAL_ERROR, "connection of frontend " + frontend.name(), fault);
    }

    /** The client sees a reset: it shall not take a refusal for a clean end. */
    private static void reject(Channel channel) {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.unsafe().closeForcibly();
    }
}
