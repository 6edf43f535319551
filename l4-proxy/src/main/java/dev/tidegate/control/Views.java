package dev.tidegate.control;

import dev.tidegate.admin.command.ConnectionFilter;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.view.AgeBucket;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.LifetimeView;
import dev.tidegate.admin.view.ListenerView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.WeightView;
import dev.tidegate.lifetime.Ticker;
import dev.tidegate.listener.Listeners;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.telemetry.AddressText;
import dev.tidegate.telemetry.Totals;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.ResidentInfo;
import dev.tidegate.worker.Worker;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The running proxy as the admin API shows it. Any thread, save for what says otherwise; what only workers know is asked of
 * them, and nobody waits for it.
 */
final class Views {
    private static final Pattern CONNECTION_ID = Pattern.compile("(\\d{1,4})-(\\d{1,18})");

    /** Bounds of the ages that open connections are counted by. */
    private static final List<Duration> AGES = List.of(
            Duration.ofSeconds(1),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofMinutes(5),
            Duration.ofMinutes(15),
            Duration.ofHours(1),
            Duration.ofHours(6),
            Duration.ofDays(1));

    private final InForce inForce;
    private final Drains drains;
    private final Operations operations;
    private final Listeners listeners;
    private final List<Worker> workers;
    private final Totals totals;
    private final Ticker ticker;
    private final FitnessViews fitness;

    Views(
            InForce inForce,
            Drains drains,
            Operations operations,
            Listeners listeners,
            List<Worker> workers,
            Ticker ticker,
            Health health) {
        this.inForce = inForce;
        this.drains = drains;
        this.operations = operations;
        this.listeners = listeners;
        this.workers = List.copyOf(workers);
        this.totals = new Totals(workers.stream().map(Worker::counters).toList());
        this.ticker = ticker;
        this.fitness = new FitnessViews(health);
    }

    // ---- frontends

    List<FrontendView> frontends() {
        return inForce.snapshot().frontends().stream().map(this::frontend).toList();
    }

    /** Null when there is none of that name. */
    FrontendView frontend(String name) {
        Frontend frontend = inForce.snapshot().frontend(name);
        return frontend == null ? null : frontend(frontend);
    }

    private FrontendView frontend(Frontend frontend) {
        int slot = frontend.cell().slot();
        boolean draining = inForce.runtime().drainingFrontends().contains(frontend.name());
        return new FrontendView(
                frontend.name(),
                draining ? "draining" : "ready",
                frontend.backend().name(),
                listeners(frontend),
                frontend.protocol().word(),
                frontend.maxConnections(),
                lifetime(frontend.lifetime()),
                frontend.cell().active(),
                totals.ofFrontend(slot, row -> row.accepted),
                requests(slot),
                totals.ofFrontend(slot, row -> row.receivedBytes),
                totals.ofFrontend(slot, row -> row.sentBytes),
                closed(slot),
                retired(slot),
                id(drains.of(new Target.OfFrontend(frontend.name()))));
    }

    private static LifetimeView lifetime(Lifetime lifetime) {
        return new LifetimeView(
                lifetime.limitsAge() ? Long.valueOf(millis(lifetime.maxAgeNanos())) : null,
                lifetime.jitter(),
                lifetime.limitsRequests() ? Long.valueOf(lifetime.maxRequests()) : null,
                lifetime.limitsBytes() ? Long.valueOf(lifetime.maxBytes()) : null,
                millis(lifetime.graceNanos()),
                millis(lifetime.quietNanos()),
                millis(lifetime.lingerNanos()));
    }

    private List<ListenerView> listeners(Frontend frontend) {
        Map<Listeners.Spec, InetSocketAddress> bound = listeners.addresses();
        List<ListenerView> views = new ArrayList<>();
        for (String address : frontend.listen()) {
            List<InetSocketAddress> where = bound.entrySet().stream()
                    .filter(entry -> entry.getKey().frontend().equals(frontend.name())
                            && entry.getKey().name().equals(address))
                    .map(Map.Entry::getValue)
                    .toList();
            // systemd may have several sockets of one name; the same address twice is one each time, with port 0.
            if (address.startsWith("systemd:")) {
                where.forEach(socket -> views.add(new ListenerView(address, AddressText.of(socket))));
            }
            if (where.isEmpty() || !address.startsWith("systemd:")) {
                views.add(new ListenerView(address, where.isEmpty() ? null : AddressText.of(where.get(0))));
            }
        }
        return views;
    }

    private Map<String, Long> requests(int slot) {
        Map<String, Long> requests = new LinkedHashMap<>();
        for (Protocol protocol : Protocol.values()) {
            requests.put(protocol.word(), totals.ofFrontend(slot, row -> row.requests(protocol)));
        }
        return requests;
    }

    private Map<String, Long> closed(int slot) {
        Map<String, Long> closed = new LinkedHashMap<>();
        for (CloseReason reason : CloseReason.values()) {
            long count = totals.ofFrontend(slot, row -> row.closed(reason));
            if (count > 0) {
                closed.put(reason.word(), count);
            }
        }
        return closed;
    }

    private Map<String, Long> retired(int slot) {
        Map<String, Long> retired = new LinkedHashMap<>();
        for (RetireHow how : RetireHow.values()) {
            long count = 0;
            for (CloseReason reason : CloseReason.values()) {
                count += totals.ofFrontend(slot, row -> row.retired(reason, how));
            }
            retired.put(how.word(), count);
        }
        return retired;
    }

    // ---- backends

    List<BackendView> backends() {
        return inForce.snapshot().backends().stream().map(this::backend).toList();
    }

    /** Null when there is none of that name. */
    BackendView backend(String name) {
        return inForce.snapshot().backends().stream()
                .filter(backend -> backend.name().equals(name))
                .map(this::backend)
                .findFirst()
                .orElse(null);
    }

    private BackendView backend(Backend backend) {
        List<EndpointView> endpoints = backend.endpoints().all().stream()
                .map(endpoint -> endpoint(backend.name(), endpoint))
                .toList();
        return new BackendView(
                backend.name(),
                backend.policy().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                inForce.runtime().drainingBackends().contains(backend.name()) ? "draining" : "ready",
                (int) endpoints.stream().filter(EndpointView::pickable).count(),
                backend.cell().panic(),
                backend.cell().spreading(),
                endpoints.stream().mapToInt(EndpointView::inFlight).sum(),
                totals.ofBackend(backend.slot(), row -> row.retries),
                totals.ofBackend(backend.slot(), row -> row.budgetExhausted),
                endpoints);
    }

    /** Null when there is none of that name. */
    EndpointView endpoint(String backend, String name) {
        for (Backend each : inForce.snapshot().backends()) {
            if (each.name().equals(backend)) {
                for (Endpoint endpoint : each.endpoints().all()) {
                    if (endpoint.name().equals(name)) {
                        return endpoint(backend, endpoint);
                    }
                }
            }
        }
        return null;
    }

    private EndpointView endpoint(String backend, Endpoint endpoint) {
        EndpointCell cell = endpoint.cell();
        Endpoint.Origin origin = endpoint.origin();
        Map<String, Long> connects = new LinkedHashMap<>();
        for (ConnectResult result : ConnectResult.values()) {
            connects.put(result.word(), totals.ofEndpoint(cell.slot(), row -> row.connects(result)));
        }
        Operation drain = drains.of(new Target.OfEndpoint(backend, cell.address()));
        return new EndpointView(
                endpoint.name(),
                backend,
                cell.address(),
                cell.addresses().stream().map(AddressText::of).toList(),
                origin.added() ? "runtime" : "config",
                state(endpoint),
                fitness.up(endpoint),
                endpoint.pickable(),
                fitness.whyNotPickable(endpoint),
                new WeightView(
                        origin.configuredWeight(),
                        origin.runtimeWeight() ? endpoint.weight() : null,
                        endpoint.weight()),
                cell.fitness().share() / 10.0,
                endpoint.maxConnections() == Integer.MAX_VALUE ? null : endpoint.maxConnections(),
                cell.inFlight(),
                totals.ofEndpoint(cell.slot(), row -> row.picks),
                connects,
                failures(cell),
                fitness.health(cell),
                fitness.ejection(cell),
                fitness.breaker(cell),
                id(drain == null ? drains.of(new Target.OfBackend(backend)) : drain));
    }

    private Map<String, Long> failures(EndpointCell cell) {
        Map<String, Long> failures = new LinkedHashMap<>();
        for (Failure failure : Failure.values()) {
            failures.put(failure.word(), totals.ofEndpoint(cell.slot(), row -> row.failures(failure)));
        }
        return failures;
    }

    /** The administrative word on an endpoint. */
    static String state(Endpoint endpoint) {
        if (endpoint.cell().closed(Closed.DISABLED)) {
            return "disabled";
        }
        return endpoint.cell().closed(Closed.DRAINING) ? "draining" : "ready";
    }

    private static String id(Operation operation) {
        return operation == null ? null : operation.id();
    }

    // ---- connections

    /** Those that are asked for, the oldest first. */
    CompletableFuture<Page<ConnectionView>> connections(ConnectionFilter filter) {
        Predicate<Resident> wanted = matching(filter);
        return Loops.askAll(workers, worker -> oldest(worker, wanted, filter.limit()))
                .thenApply(parts -> {
                    long now = ticker.nanoTime();
                    List<ConnectionView> items = parts.stream()
                            .flatMap(part -> part.oldest().stream())
                            .sorted(Comparator.comparingLong(info -> info.acceptedNanos() - now))
                            .limit(filter.limit())
                            .map(info -> connection(info, now))
                            .toList();
                    return new Page<>(
                            items, parts.stream().mapToInt(Part::total).sum());
                });
    }

    /** What one worker has. */
    private record Part(List<ResidentInfo> oldest, int total) {}

    private static Part oldest(Worker worker, Predicate<Resident> wanted, int limit) {
        List<Resident> found = new ArrayList<>();
        worker.forEachResident(resident -> {
            if (wanted.test(resident)) {
                found.add(resident);
            }
        });
        long now = worker.nowNanos();
        List<ResidentInfo> oldest = found.stream()
                .sorted(Comparator.comparingLong(resident -> resident.acceptedNanos() - now))
                .limit(limit)
                .map(Resident::info)
                .toList();
        return new Part(oldest, found.size());
    }

    private static Predicate<Resident> matching(ConnectionFilter filter) {
        Predicate<Resident> wanted = resident -> true;
        if (filter.frontend().isPresent()) {
            String frontend = filter.frontend().get();
            wanted = wanted.and(resident -> resident.frontend().name().equals(frontend));
        }
        if (filter.backend().isPresent()) {
            String backend = filter.backend().get();
            wanted = wanted.and(resident -> resident.info().backend().equals(backend));
        }
        if (filter.endpoint().isPresent()) {
            String endpoint = filter.endpoint().get();
            wanted = wanted.and(resident -> endpoint.equals(resident.info().endpoint()));
        }
        return wanted;
    }

    private static ConnectionView connection(ResidentInfo info, long nowNanos) {
        return new ConnectionView(
                info.worker() + "-" + info.sequence(),
                info.frontend(),
                info.listener(),
                info.client() == null ? null : AddressText.of(info.client()),
                info.backend(),
                info.endpoint(),
                info.endpointAddress() == null ? null : AddressText.of(info.endpointAddress()),
                info.protocol().word(),
                info.state(),
                info.retiring(),
                info.told(),
                info.softNanos() == null ? null : Long.valueOf(millis(info.softNanos() - nowNanos)),
                millis(nowNanos - info.acceptedNanos()),
                millis(nowNanos - info.progressNanos()),
                info.requests(),
                info.bytesReceived(),
                info.bytesSent(),
                info.worker(),
                info.generation());
    }

    private static long millis(long nanos) {
        return Math.max(0, nanos / 1_000_000);
    }

    /** The open connection with that id. Control's thread only. */
    Optional<Resident> resident(String id) {
        Matcher parts = CONNECTION_ID.matcher(id);
        if (!parts.matches() || Integer.parseInt(parts.group(1)) >= workers.size()) {
            return Optional.empty();
        }
        Worker worker = workers.get(Integer.parseInt(parts.group(1)));
        long sequence = Long.parseLong(parts.group(2));
        Resident[] found = new Resident[1];
        Loops.tryRun(List.of(worker), each -> found[0] = each.resident(sequence), Loops.PATIENCE);
        return Optional.ofNullable(found[0]);
    }

    /** Open connections by their age. */
    CompletableFuture<List<AgeBucket>> ages() {
        return Loops.askAll(workers, Views::ages).thenApply(parts -> {
            List<AgeBucket> buckets = new ArrayList<>();
            for (int i = 0; i <= AGES.size(); i++) {
                int index = i;
                buckets.add(new AgeBucket(
                        i == AGES.size() ? null : Long.valueOf(AGES.get(i).toMillis()),
                        parts.stream().mapToInt(part -> part[index]).sum()));
            }
            return List.copyOf(buckets);
        });
    }

    private static int[] ages(Worker worker) {
        int[] counts = new int[AGES.size() + 1];
        long now = worker.nowNanos();
        worker.forEachResident(resident -> counts[bucket(now - resident.acceptedNanos())]++);
        return counts;
    }

    private static int bucket(long ageNanos) {
        int bucket = 0;
        while (bucket < AGES.size() && ageNanos > AGES.get(bucket).toNanos()) {
            bucket++;
        }
        return bucket;
    }

    // ---- operations

    /** All that are known, the newest first. */
    CompletableFuture<List<OperationView>> operations() {
        List<Operation> all = operations.all();
        List<Operation> running = all.stream().filter(Operation::running).toList();
        return Loops.askAll(workers, worker -> oldest(worker, running)).thenApply(parts -> {
            long now = ticker.nanoTime();
            return all.stream()
                    .map(operation -> operation.view(now, oldest(parts, operation, now)))
                    .toList();
        });
    }

    /** How one stands. Control's thread only: it waits for the workers, but not for a stuck one. */
    OperationView operation(Operation operation) {
        List<Map<Operation, Long>> parts = new ArrayList<>();
        for (Worker worker : workers) {
            Loops.tryRun(List.of(worker), each -> parts.add(oldest(each, List.of(operation))), Loops.PATIENCE);
        }
        long now = ticker.nanoTime();
        return operation.view(now, oldest(parts, operation, now));
    }

    /** When the oldest connection under each was accepted; nothing for one that covers none here. */
    private static Map<Operation, Long> oldest(Worker worker, List<Operation> running) {
        Map<Operation, Long> oldest = new HashMap<>();
        if (!running.isEmpty()) {
            worker.forEachResident(resident -> {
                for (Operation operation : running) {
                    if (resident.under(operation.order())) {
                        oldest.merge(operation, resident.acceptedNanos(), (a, b) -> a - b <= 0 ? a : b);
                    }
                }
            });
        }
        return oldest;
    }

    private static OptionalLong oldest(List<Map<Operation, Long>> parts, Operation operation, long nowNanos) {
        return parts.stream()
                .filter(part -> part.containsKey(operation))
                .mapToLong(part -> nowNanos - part.get(operation))
                .max();
    }
}
