package dev.tidegate.admin;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.ConnectionFilter;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.admin.view.UpgradeView;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * What the admin server asks of the running proxy. Called on the thread {@code tidegate-admin} where nothing else is said, so
 * answers must come without waiting: what needs another thread answers with a stage, which may complete on any thread.
 */
public interface ProxyOperations {
    /**
     * Whether connections should be sent here.
     *
     * @param frontend the frontend asked about; empty for all
     * @return the state of the process, with all frontends, or with the named one alone; with none when there is no
     *     frontend of that name
     */
    Readiness readiness(Optional<String> frontend);

    /**
     * Writes all metrics. Called on the thread {@code tidegate-scrape}, since it takes a while with many endpoints.
     *
     * @param format in which text
     * @param out where to; not to be closed
     * @throws IOException when {@code out} does
     */
    void writeMetrics(MetricsFormat format, OutputStream out) throws IOException;

    /** The generation of the configuration in force. */
    long generation();

    /** The process as it is now, or was a moment ago, but never before a write that has been answered. */
    CompletionStage<StatusView> status();

    /** The configuration in force, as the file would have it: maps, lists and scalars; secrets masked. */
    Map<String, Object> config();

    /** All frontends, in the order of the configuration. */
    List<FrontendView> frontends();

    /** All backends, in the order of the configuration. */
    List<BackendView> backends();

    /** Open connections, the oldest first. */
    CompletionStage<Page<ConnectionView>> connections(ConnectionFilter filter);

    /** Operations under way, and the last ones that ended; the newest first. As old as the status may be. */
    CompletionStage<List<OperationView>> operations();

    /** The last events, oldest first, {@code max} at most. */
    List<EventView> recentEvents(int max);

    /**
     * Has every event from now on told.
     *
     * @param sink told by any thread; must not wait
     * @return ends it
     */
    Runnable followEvents(Consumer<EventView> sink);

    /** How the last upgrade of this process stands. */
    UpgradeView upgrade();

    /**
     * Carries a write out: whole, or not at all.
     *
     * @return how it came out; completes exceptionally only for a fault of our own
     */
    CompletionStage<Outcome> execute(Command command, WriteContext context);
}
