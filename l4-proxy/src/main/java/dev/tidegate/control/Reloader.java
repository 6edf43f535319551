package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.config.Config;
import dev.tidegate.config.LogConfig;
import dev.tidegate.model.Snapshot;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts another configuration in force: all of it or nothing, save for what needs a restart, which is told of and stays as
 * it is. Connections of what is gone are retired; connections on endpoints that stay are not touched. What operators have
 * changed stays, unless the configuration now says something else about it.
 *
 * <p>Confined to control's thread.
 */
final class Reloader {
    private static final Logger log = LoggerFactory.getLogger(Reloader.class);

    /** Connections of what a reload took away begin to end within 10 s, and are cut after 5 min. */
    static final RetirePlan PLAN =
            new RetirePlan(DrainMode.GRACEFUL, Optional.of(Duration.ofMinutes(5)), Duration.ofSeconds(10));

    private final InForce inForce;
    private final Cells cells;
    private final Publisher publisher;
    private final Departures departures;
    private final Drains drains;
    private final LevelInForce level;

    Reloader(
            InForce inForce,
            Cells cells,
            Publisher publisher,
            Departures departures,
            Drains drains,
            LevelInForce level) {
        this.inForce = inForce;
        this.cells = cells;
        this.publisher = publisher;
        this.departures = departures;
        this.drains = drains;
        this.level = level;
    }

    /** What a reload would change. Changes nothing. */
    ReloadResult dryRun(Config wanted) {
        Snapshot now = inForce.snapshot();
        return ReloadResult.unchanged(now.generation(), ConfigDiff.between(inForce.config(), wanted, cells));
    }

    /** Puts that configuration in force, as far as it needs no restart. */
    ReloadResult reload(Config wanted) {
        Snapshot before = inForce.snapshot();
        ConfigDiff diff = ConfigDiff.between(inForce.config(), wanted, cells);
        for (ConfigDiff.Change change : diff.atRestart()) {
            log.warn("needs a restart, stays as it is: {} from {} to {}", change.path(), change.from(), change.to());
        }
        if (diff.live().isEmpty()) {
            return ReloadResult.unchanged(before.generation(), diff);
        }
        Config next = withoutRestart(inForce.config(), wanted);
        RuntimeState runtime = inForce.runtime().reconcile(next);
        Publisher.Moves moves;
        try {
            moves = publisher.publish(next, runtime);
        } catch (IOException cannot) {
            return ReloadResult.rejected(before.generation(), cannot.getMessage());
        }
        level.follow(next, runtime);
        departures.settle(moves, PLAN);
        drains.follow(inForce.snapshot());
        return ReloadResult.applied(inForce.snapshot().generation(), diff);
    }

    /** What a running process cannot change stays what it is, so that the next diff tells of it again. */
    private static Config withoutRestart(Config now, Config wanted) {
        return new Config(
                now.process().withShutdown(wanted.process().shutdown()),
                now.admin(),
                new LogConfig(wanted.log().level(), now.log().access()),
                wanted.frontends(),
                wanted.backends());
    }
}
