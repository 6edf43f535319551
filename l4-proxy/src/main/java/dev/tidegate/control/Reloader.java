package dev.tidegate.control;

import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.config.Config;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.LogConfig;
import dev.tidegate.model.Snapshot;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
    private final boolean adoptsSockets;

    Reloader(
            InForce inForce,
            Cells cells,
            Publisher publisher,
            Departures departures,
            Drains drains,
            LevelInForce level,
            boolean adoptsSockets) {
        this.inForce = inForce;
        this.cells = cells;
        this.publisher = publisher;
        this.departures = departures;
        this.drains = drains;
        this.level = level;
        this.adoptsSockets = adoptsSockets;
    }

    /** What a reload would change. Changes nothing. */
    ReloadResult dryRun(Config wanted) {
        Snapshot now = inForce.snapshot();
        return ReloadResult.unchanged(
                now.generation(), ConfigDiff.between(inForce.config(), wanted, cells, adoptsSockets));
    }

    /** Puts that configuration in force, as far as it needs no restart. */
    ReloadResult reload(Config wanted) {
        Snapshot before = inForce.snapshot();
        ConfigDiff diff = ConfigDiff.between(inForce.config(), wanted, cells, adoptsSockets);
        for (ConfigDiff.Change change : diff.atRestart()) {
            log.warn("needs a restart, stays as it is: {} from {} to {}", change.path(), change.from(), change.to());
        }
        if (diff.live().isEmpty()) {
            return ReloadResult.unchanged(before.generation(), diff);
        }
        if (frontends(inForce.config(), wanted).isEmpty()) {
            return ReloadResult.rejected(
                    before.generation(), "all frontends have sockets from systemd, which need a restart with epoll");
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
    private Config withoutRestart(Config now, Config wanted) {
        return new Config(
                now.process().withShutdown(wanted.process().shutdown()),
                now.admin(),
                new LogConfig(wanted.log().level(), now.log().access()),
                frontends(now, wanted),
                wanted.backends());
    }

    /** A frontend that needs a restart for where it listens stays where it is, or waits. */
    private List<FrontendConfig> frontends(Config now, Config wanted) {
        List<FrontendConfig> possible = new ArrayList<>();
        for (FrontendConfig frontend : wanted.frontends()) {
            if (adoptsSockets || !frontend.listensByDescriptor()) {
                possible.add(frontend);
            } else {
                now.frontends().stream()
                        .filter(known -> known.name().equals(frontend.name()))
                        .map(FrontendConfig::listen)
                        .forEach(listen -> possible.add(frontend.listeningOn(listen)));
            }
        }
        return possible;
    }
}
