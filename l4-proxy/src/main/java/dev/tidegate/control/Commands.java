package dev.tidegate.control;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Command.RemovePolicy;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Outcome.Why;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.ChangeView;
import dev.tidegate.admin.view.DiffView;
import dev.tidegate.admin.view.ProblemView;
import dev.tidegate.config.Durations;
import dev.tidegate.config.EndpointAddress;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.LogConfig;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.Snapshot;
import dev.tidegate.worker.Resident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Carries operators' writes out, one at a time: each is checked, and then done whole. All but the reload of the file.
 *
 * <p>Confined to control's thread.
 */
final class Commands {
    /** The longest deadline or spread: far beyond what anyone waits for, far below where times in nanoseconds wrap. */
    private static final Duration LONGEST = Duration.ofDays(365);

    private final InForce inForce;
    private final Publisher publisher;
    private final Operations operations;
    private final Drains drains;
    private final Departures departures;
    private final Rebalances rebalances;
    private final LevelInForce level;
    private final Views views;
    private final Events events;

    Commands(
            InForce inForce,
            Publisher publisher,
            Operations operations,
            Drains drains,
            Departures departures,
            Rebalances rebalances,
            LevelInForce level,
            Views views,
            Events events) {
        this.inForce = inForce;
        this.publisher = publisher;
        this.operations = operations;
        this.drains = drains;
        this.departures = departures;
        this.rebalances = rebalances;
        this.level = level;
        this.views = views;
        this.events = events;
    }

    /** A write that cannot be done; nothing has changed. */
    private static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Outcome.Refused refusal;

        RefusedException(Why why, String detail, List<ProblemView> problems) {
            super(detail);
            this.refusal = new Outcome.Refused(why, detail, problems);
        }

        RefusedException(Why why, String detail) {
            this(why, detail, List.of());
        }
    }

    /** Does one, or tells why not. */
    Outcome run(Command command, WriteContext context) {
        long generation = inForce.snapshot().generation();
        if (context.ifGeneration().isPresent() && context.ifGeneration().getAsLong() != generation) {
            return new Outcome.Refused(
                    Why.STALE,
                    ReloadResult.staleReason(generation, context.ifGeneration().getAsLong()),
                    List.of());
        }
        try {
            if (command instanceof Command.Drain drain) {
                return drain(drain, context);
            } else if (command instanceof Command.Undrain undrain) {
                return undrain(undrain, context);
            } else if (command instanceof Command.Disable disable) {
                return disable(disable.endpoint(), true, context);
            } else if (command instanceof Command.Enable enable) {
                return disable(enable.endpoint(), false, context);
            } else if (command instanceof Command.SetWeight weight) {
                return weight(weight.endpoint(), Optional.of(weight.weight()), context);
            } else if (command instanceof Command.ResetWeight weight) {
                return weight(weight.endpoint(), Optional.empty(), context);
            } else if (command instanceof Command.AddEndpoint add) {
                return add(add, context);
            } else if (command instanceof Command.RemoveEndpoint remove) {
                return remove(remove, context);
            } else if (command instanceof Command.Rebalance rebalance) {
                return rebalance(rebalance, context);
            } else if (command instanceof Command.CloseConnection close) {
                return close(close, context);
            } else if (command instanceof Command.SetLogLevel log) {
                return logLevel(log, context);
            }
            throw new IllegalArgumentException("not a command for here: " + command);
        } catch (RefusedException refused) {
            return refused.refusal;
        }
    }

    // ---- drains

    private Outcome drain(Command.Drain drain, WriteContext context) throws RefusedException {
        Found found = find(drain.target());
        RetirePlan plan = plan(drain);
        List<ChangeView> changes = found.draining() ? List.of() : List.of(found.change(inForce.runtime(), true));
        if (context.dryRun()) {
            return compared(changes);
        }
        RuntimeState next = found.with(inForce.runtime(), true);
        publish(next);
        Operation operation = drains.begin(found.key(), drain.target().toString(), plan, inForce.snapshot());
        events.emit(
                "drain-started",
                "drain of " + drain.target() + " begun, connections "
                        + operation.order().remaining(),
                fields(operation));
        return new Outcome.Started(generation(), changes, views.operation(operation));
    }

    private Outcome undrain(Command.Undrain undrain, WriteContext context) throws RefusedException {
        Found found = find(undrain.target());
        if (undrain.target() instanceof Target.OfEndpoint one
                && inForce.runtime().drainingBackends().contains(one.backend())
                && !found.draining()) {
            throw new RefusedException(
                    Why.CONFLICT,
                    "all of backend \"" + one.backend() + "\" is drained, not endpoint \"" + one.endpoint()
                            + "\" alone; undrain the backend");
        }
        List<ChangeView> changes = found.draining() ? List.of(found.change(inForce.runtime(), false)) : List.of();
        if (context.dryRun()) {
            return compared(changes);
        }
        if (!changes.isEmpty()) {
            publish(found.with(inForce.runtime(), false));
        }
        drains.end(found.key(), inForce.snapshot());
        if (!changes.isEmpty()) {
            events.emit(
                    "drain-ended",
                    "drain of " + undrain.target() + " taken back",
                    Map.of("target", undrain.target().toString()));
        }
        return done(changes, null);
    }

    private static RetirePlan plan(Command.Drain drain) throws RefusedException {
        requireInRange("deadline", drain.deadline());
        requireInRange("spread", drain.spread());
        if (drain.deadline().isPresent()
                && drain.spread().isPresent()
                && drain.spread().get().compareTo(drain.deadline().get()) > 0) {
            throw invalid(
                    "spread",
                    Durations.format(drain.spread().get()) + " is longer than the deadline, "
                            + Durations.format(drain.deadline().get()),
                    "give a spread within the deadline");
        }
        // A frontend and the process are drained to be left; an endpoint may as well be left alone first.
        boolean plain = drain.deadline().isEmpty()
                && drain.spread().isEmpty()
                && (drain.target() instanceof Target.OfEndpoint || drain.target() instanceof Target.OfBackend);
        DrainMode mode = drain.mode().orElse(plain ? DrainMode.WAIT : DrainMode.GRACEFUL);
        return RetirePlan.of(mode, drain.deadline(), drain.spread());
    }

    private static void requireInRange(String what, Optional<Duration> duration) throws RefusedException {
        if (duration.isPresent() && duration.get().isNegative()) {
            throw invalid(what, duration.get() + " is below 0", "give a duration such as 10m");
        }
        if (duration.isPresent() && duration.get().compareTo(LONGEST) > 0) {
            throw invalid(
                    what,
                    Durations.format(duration.get()) + " is too long",
                    "give " + Durations.format(LONGEST) + " at most");
        }
    }

    /** What a drain is about, as it is now. Endpoints are known by address within, since that outlives a reload. */
    private record Found(Target target, Target key, boolean draining, int connections) {
        ChangeView change(RuntimeState runtime, boolean drained) {
            if (target instanceof Target.OfEndpoint one && key instanceof Target.OfEndpoint byAddress) {
                EndpointId id = new EndpointId(byAddress.backend(), byAddress.endpoint());
                return new ChangeView(
                        "change",
                        path(one) + ".state",
                        said(id, runtime),
                        said(id, with(runtime, drained)),
                        "live",
                        connections);
            }
            String path = target.toString().replace('/', '.');
            return new ChangeView("change", path + ".state", word(draining), word(drained), "live", connections);
        }

        private static String word(boolean draining) {
            return draining ? "draining" : "ready";
        }

        RuntimeState with(RuntimeState runtime, boolean drained) {
            if (key instanceof Target.OfEndpoint one) {
                return runtime.withDraining(new EndpointId(one.backend(), one.endpoint()), drained);
            } else if (target instanceof Target.OfBackend all) {
                return runtime.withBackendDraining(all.backend(), drained);
            } else if (target instanceof Target.OfFrontend frontend) {
                return runtime.withFrontendDraining(frontend.frontend(), drained);
            }
            return runtime; // a drain of the process ends with it
        }
    }

    private Found find(Target target) throws RefusedException {
        RuntimeState runtime = inForce.runtime();
        if (target instanceof Target.OfEndpoint one) {
            Endpoint endpoint = endpoint(one);
            String address = endpoint.cell().address();
            return new Found(
                    target,
                    new Target.OfEndpoint(one.backend(), address),
                    runtime.endpoint(new EndpointId(one.backend(), address)).draining(),
                    endpoint.cell().inFlight());
        }
        if (target instanceof Target.OfBackend all) {
            Backend backend = backend(all.backend());
            int connections = backend.endpoints().all().stream()
                    .mapToInt(endpoint -> endpoint.cell().inFlight())
                    .sum();
            return new Found(target, target, runtime.drainingBackends().contains(all.backend()), connections);
        }
        if (target instanceof Target.OfFrontend one) {
            var frontend = inForce.snapshot().frontend(one.frontend());
            if (frontend == null) {
                throw new RefusedException(Why.NOT_FOUND, "there is no frontend \"" + one.frontend() + "\"");
            }
            return new Found(
                    target,
                    target,
                    runtime.drainingFrontends().contains(one.frontend()),
                    frontend.cell().active());
        }
        int connections = inForce.snapshot().frontends().stream()
                .mapToInt(frontend -> frontend.cell().active())
                .sum();
        return new Found(target, target, drains.process(), connections);
    }

    // ---- endpoints

    private Outcome disable(Target.OfEndpoint target, boolean disabled, WriteContext context) throws RefusedException {
        Endpoint endpoint = endpoint(target);
        EndpointId id = id(target, endpoint);
        RuntimeState now = inForce.runtime();
        RuntimeState next = now.withDisabled(id, disabled);
        List<ChangeView> changes = now.endpoint(id).disabled() == disabled
                ? List.of()
                : List.of(new ChangeView("change", path(target) + ".state", said(id, now), said(id, next), "live", 0));
        if (context.dryRun()) {
            return compared(changes);
        }
        if (!changes.isEmpty()) {
            publish(next);
            String word = disabled ? "disabled" : "enabled";
            events.emit("endpoint-" + word, target + " " + word, Map.of("target", target.toString()));
        }
        return done(changes, body(target));
    }

    private Outcome weight(Target.OfEndpoint target, Optional<Integer> wanted, WriteContext context)
            throws RefusedException {
        Endpoint endpoint = endpoint(target);
        if (wanted.isPresent() && (wanted.get() < 0 || wanted.get() > Endpoint.MAX_WEIGHT)) {
            throw invalid("weight", wanted.get() + " is out of range", "give 0 to " + Endpoint.MAX_WEIGHT);
        }
        int configured = endpoint.origin().configuredWeight();
        int next = wanted.orElse(configured);
        List<ChangeView> changes = next == endpoint.weight()
                ? List.of()
                : List.of(new ChangeView(
                        "change",
                        path(target) + ".weight",
                        String.valueOf(endpoint.weight()),
                        String.valueOf(next),
                        "live",
                        0));
        if (context.dryRun()) {
            return compared(changes);
        }
        RuntimeState runtime = inForce.runtime();
        RuntimeState with = runtime.withWeight(id(target, endpoint), next, configured);
        if (!with.equals(runtime)) {
            publish(with);
            events.emit(
                    "endpoint-weight",
                    target + " has weight " + next,
                    Map.of("target", target.toString(), "weight", next));
        }
        return done(changes, body(target));
    }

    private Outcome add(Command.AddEndpoint add, WriteContext context) throws RefusedException {
        Backend backend = backend(add.backend());
        EndpointConfig wanted = wanted(add);
        requireCheckable(add.backend(), wanted.address());
        String address = wanted.address().toString();
        for (Endpoint there : backend.endpoints().all()) {
            if (there.name().equals(wanted.name()) || there.cell().address().equals(address)) {
                throw new RefusedException(
                        Why.CONFLICT,
                        "backend \"" + add.backend() + "\" has endpoint \"" + there.name() + "\" at "
                                + there.cell().address() + " already; name and address must be new");
            }
        }
        List<ChangeView> changes = List.of(new ChangeView(
                "add",
                "backends." + add.backend() + ".endpoints." + wanted.name(),
                null,
                ConfigValues.text(ConfigValues.of(wanted)),
                "live",
                0));
        if (context.dryRun()) {
            return compared(changes);
        }
        publish(restoredOrAdded(add, wanted));
        Target.OfEndpoint target = new Target.OfEndpoint(add.backend(), wanted.name());
        events.emit(
                "endpoint-added",
                target + " added, " + address,
                Map.of("target", target.toString(), "address", address));
        return done(changes, body(target));
    }

    /** As the file's endpoints are required to be. */
    private void requireCheckable(String backend, EndpointAddress address) throws RefusedException {
        Optional<String> unreachable = inForce.config().backends().stream()
                .filter(each -> each.name().equals(backend))
                .flatMap(each -> each.health().stream())
                .flatMap(health -> health.unreachable(address).stream())
                .findFirst();
        if (unreachable.isPresent()) {
            throw invalid(
                    "address",
                    "health." + unreachable.get() + ", so that it could not be checked",
                    "give an address of the same family");
        }
    }

    /** One that the file has just so, and that was removed at run time, comes back as the file's. */
    private RuntimeState restoredOrAdded(Command.AddEndpoint add, EndpointConfig wanted) {
        boolean configuredSo = inForce.config().backends().stream()
                .filter(each -> each.name().equals(add.backend()))
                .anyMatch(each -> each.endpoints().contains(wanted));
        return configuredSo
                ? inForce.runtime().withRestored(EndpointId.of(add.backend(), wanted.address()))
                : inForce.runtime().withAdded(add.backend(), wanted);
    }

    private static EndpointConfig wanted(Command.AddEndpoint add) throws RefusedException {
        EndpointAddress address;
        try {
            address = EndpointAddress.parse(add.address());
        } catch (IllegalArgumentException wrong) {
            throw invalid("address", wrong.getMessage(), "");
        }
        if (address.literal() && unfit(address.host())) {
            throw invalid(
                    "address",
                    "\"" + add.address() + "\" is link-local, where hosts keep their metadata services",
                    "give another address, or write it into the configuration file");
        }
        try {
            return new EndpointConfig(add.name(), address, add.weight().orElse(1), add.maxConnections());
        } catch (IllegalArgumentException wrong) {
            throw invalid("endpoint", wrong.getMessage(), "");
        }
    }

    /** Those that a name resolves to are looked at when it is resolved. */
    private static boolean unfit(String literal) {
        try {
            return UnfitAddress.is(InetAddress.getByName(literal));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("not a literal: " + literal, e);
        }
    }

    private Outcome remove(Command.RemoveEndpoint remove, WriteContext context) throws RefusedException {
        Target.OfEndpoint target = remove.endpoint();
        Endpoint endpoint = endpoint(target);
        String address = endpoint.cell().address();
        int retires = remove.policy() == RemovePolicy.KEEP ? 0 : endpoint.cell().inFlight();
        List<ChangeView> changes =
                List.of(new ChangeView("remove", path(target), "address: " + address, null, "live", retires));
        if (context.dryRun()) {
            return compared(changes);
        }
        RuntimeState runtime = inForce.runtime();
        RetirePlan plan =
                switch (remove.policy()) {
                    case DRAIN -> Reloader.PLAN;
                    case KEEP -> null;
                    case CUT -> RetirePlan.of(DrainMode.CUT, Optional.empty(), Optional.empty());
                };
        Operation operation = publish(runtime.withRemoved(id(target, endpoint)), plan);
        events.emit("endpoint-removed", target + " removed", Map.of("target", target.toString(), "address", address));
        return operation == null
                ? done(changes, null)
                : new Outcome.Started(generation(), changes, views.operation(operation));
    }

    // ---- connections

    private Outcome rebalance(Command.Rebalance rebalance, WriteContext context) throws RefusedException {
        Backend backend = backend(rebalance.backend());
        requireInRange("spread", rebalance.spread());
        List<ChangeView> changes = List.of(new ChangeView(
                "change",
                "backends." + backend.name() + ".connections",
                null,
                "at most the fair share on each endpoint",
                "live",
                rebalances.excess(backend).size()));
        if (context.dryRun()) {
            return compared(changes);
        }
        publish(inForce.runtime());
        Operation operation = rebalances.begin(backend(rebalance.backend()), rebalance.spread());
        return new Outcome.Started(generation(), changes, views.operation(operation));
    }

    private Outcome close(Command.CloseConnection close, WriteContext context) throws RefusedException {
        Optional<Resident> found = views.resident(close.id());
        if (found.isEmpty()) {
            throw new RefusedException(Why.NOT_FOUND, "there is no open connection \"" + close.id() + "\"");
        }
        Resident resident = found.get();
        List<ChangeView> changes =
                List.of(new ChangeView("remove", "connections." + close.id(), "open", null, "live", 1));
        if (context.dryRun()) {
            return compared(changes);
        }
        publish(inForce.runtime());
        boolean abort = close.mode() == Command.CloseMode.ABORT;
        RetirePlan plan = abort
                ? new RetirePlan(DrainMode.CUT, Optional.empty(), Duration.ZERO)
                : new RetirePlan(DrainMode.GRACEFUL, Optional.of(grace(resident)), Duration.ZERO);
        Operation operation = operations.begin(
                Operation.Kind.CLOSE,
                "connections/" + close.id(),
                CloseReason.KILLED,
                plan,
                endpoint -> true,
                each -> each == resident);
        if (abort) {
            operations.abort(operation);
            return done(changes, null);
        }
        return new Outcome.Started(generation(), changes, views.operation(operation));
    }

    /** As its frontend has it; one that is gone is not asked. */
    private Duration grace(Resident resident) {
        var frontend = inForce.snapshot().frontend(resident.frontend().name());
        Lifetime lifetime = frontend == null ? Lifetime.DEFAULT : frontend.lifetime();
        return Duration.ofNanos(lifetime.graceNanos());
    }

    // ---- logs

    private Outcome logLevel(Command.SetLogLevel command, WriteContext context) throws RefusedException {
        String before =
                LevelInForce.of(inForce.config(), inForce.runtime()).name().toLowerCase(Locale.ROOT);
        String wanted = command.level().word();
        List<ChangeView> changes = before.equals(wanted)
                ? List.of()
                : List.of(new ChangeView("change", "log.level", before, wanted, "live", 0));
        if (context.dryRun()) {
            return compared(changes);
        }
        if (!changes.isEmpty()) {
            publish(inForce.runtime()
                    .withLogLevel(
                            LogConfig.Level.valueOf(command.level().name()),
                            inForce.config().log().level()));
            level.follow(inForce.config(), inForce.runtime());
        }
        return done(changes, Map.of("level", wanted));
    }

    // ---- machinery

    private void publish(RuntimeState runtime) throws RefusedException {
        publish(runtime, Reloader.PLAN);
    }

    private Operation publish(RuntimeState runtime, RetirePlan plan) throws RefusedException {
        try {
            Operation operation = departures.settle(publisher.publish(inForce.config(), runtime), plan);
            drains.follow(inForce.snapshot());
            return operation;
        } catch (IOException cannot) {
            throw new RefusedException(Why.CONFLICT, cannot.getMessage());
        }
    }

    private long generation() {
        return inForce.snapshot().generation();
    }

    private Outcome done(List<ChangeView> changes, Object body) {
        return new Outcome.Done(generation(), changes, body);
    }

    private Outcome compared(List<ChangeView> changes) {
        return new Outcome.Compared(new DiffView(generation(), changes));
    }

    private Object body(Target target) {
        if (target instanceof Target.OfEndpoint one) {
            return views.endpoint(one.backend(), one.endpoint());
        } else if (target instanceof Target.OfBackend all) {
            return views.backend(all.backend());
        } else if (target instanceof Target.OfFrontend one) {
            return views.frontend(one.frontend());
        }
        return null;
    }

    private Backend backend(String name) throws RefusedException {
        Snapshot snapshot = inForce.snapshot();
        for (Backend backend : snapshot.backends()) {
            if (backend.name().equals(name)) {
                return backend;
            }
        }
        throw new RefusedException(Why.NOT_FOUND, "there is no backend \"" + name + "\"");
    }

    private Endpoint endpoint(Target.OfEndpoint target) throws RefusedException {
        for (Endpoint endpoint : backend(target.backend()).endpoints().all()) {
            if (endpoint.name().equals(target.endpoint())) {
                return endpoint;
            }
        }
        throw new RefusedException(
                Why.NOT_FOUND, "backend \"" + target.backend() + "\" has no endpoint \"" + target.endpoint() + "\"");
    }

    private static EndpointId id(Target.OfEndpoint target, Endpoint endpoint) {
        return new EndpointId(target.backend(), endpoint.cell().address());
    }

    /** All that operators have said of an endpoint: one word of it taken back leaves the others. */
    private static String said(EndpointId id, RuntimeState runtime) {
        List<String> words = new ArrayList<>();
        if (runtime.endpoint(id).disabled()) {
            words.add("disabled");
        }
        if (runtime.endpoint(id).draining()) {
            words.add("draining");
        }
        if (runtime.drainingBackends().contains(id.backend())) {
            words.add("backend draining");
        }
        return words.isEmpty() ? "ready" : String.join("; ", words);
    }

    private static String path(Target.OfEndpoint target) {
        return "backends." + target.backend() + ".endpoints." + target.endpoint();
    }

    private static RefusedException invalid(String path, String message, String hint) {
        return new RefusedException(
                Why.INVALID,
                path + ": " + message + (hint.isEmpty() ? "" : "; " + hint),
                List.of(new ProblemView(0, 0, path, message, hint)));
    }

    static Map<String, Object> fields(Operation operation) {
        return Map.of("operation", operation.id(), "kind", operation.kind().word(), "target", operation.target());
    }
}
