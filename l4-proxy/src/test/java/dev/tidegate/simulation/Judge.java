package dev.tidegate.simulation;

import dev.tidegate.admin.view.OperationView;
import dev.tidegate.control.Proxy;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.RetireHow;
import dev.tidegate.telemetry.AccessRecord;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What must hold in a run, whatever happens: an {@link AssertionError} says what does not. */
final class Judge {
    /** Late by so much is in time: ticks of the wheel, and those of control. */
    private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Operations are looked at this often. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final SimNetwork network;
    private final Settings settings;
    private final List<SimEndpoint> endpoints;
    private final Map<InetSocketAddress, AccessRecord> records = new HashMap<>();
    private Proxy proxy;
    private long nextLookNanos;
    private int unanswered;
    private long trace = 1;

    Judge(SimNetwork network, Settings settings, List<SimEndpoint> endpoints) {
        this.network = network;
        this.settings = settings;
        this.endpoints = endpoints;
    }

    /** Whom it judges. It is told of dials and of ends from then on. */
    void watch(Proxy judged) {
        proxy = judged;
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    // ---- at any time

    /** An attempt is about to be made: its endpoint was picked and counted in the same turn. */
    void onDial(InetSocketAddress address) {
        Backend backend = proxy.snapshot().backends().get(0);
        Endpoint picked = null;
        boolean another = false;
        for (int i = 0; i < backend.endpoints().size(); i++) {
            Endpoint each = backend.endpoints().at(i);
            if (each.cell().addresses().contains(address)) {
                picked = each;
            } else {
                another |= backend.endpoints().candidate(i);
            }
        }
        check(picked != null, "dials " + address + ", which is in no snapshot");
        check(picked.cell().open(), "dials " + picked + ", which takes no connections");
        boolean fit = picked.cell().fitness().fit() || backend.endpoints().spreading();
        check(fit || !another, "dials " + picked + ", which is not fit, while another is");
        check(
                picked.cell().inFlight() <= settings.endpointMax(),
                picked + " has more than its limit of " + settings.endpointMax());
    }

    /** All loops have done what there was to do at this time. */
    void onTurned() {
        int active = proxy.connections().active();
        if (active < 0 || active > settings.maxConnections()) {
            throw new AssertionError(active + " connections are counted");
        }
        int inFlight = 0;
        for (Endpoint endpoint : proxy.snapshot().backends().get(0).endpoints().all()) {
            int count = endpoint.cell().inFlight();
            if (count < 0 || count > settings.endpointMax()) {
                throw new AssertionError(endpoint + " has " + count + " in flight");
            }
            inFlight += count;
        }
        if (inFlight > active) {
            throw new AssertionError(inFlight + " in flight, and " + active + " connections");
        }
        if (network.now() >= nextLookNanos) {
            nextLookNanos = network.now() + LOOK_NANOS;
            proxy.operations().thenAccept(all -> all.forEach(this::checkOperation));
        }
    }

    private void checkOperation(OperationView operation) {
        if (operation.state().equals("running") && operation.deadline() != null) {
            long late = network.now()
                    - Duration.between(Instant.EPOCH, operation.deadline()).toNanos();
            // Retired quietly just before it, a connection may still wait for its client to read its last bytes.
            check(late <= SLACK_NANOS + Settings.LINGER.toNanos(), operation + " has outlived its deadline");
        }
    }

    // ---- when a connection is over

    void onRecord(AccessRecord record) {
        check(record.reason != null, "a connection has ended without a reason");
        trace = 31 * trace + record.durationNanos;
        trace = 31 * trace + record.reason.ordinal();
        trace = 31 * trace + record.bytesSent;
        AccessRecord other = records.put((InetSocketAddress) record.client, record);
        check(other == null, "the connection of " + record.client + " has ended twice");
        check(
                !record.cutMidExchange || record.how == null || record.how == RetireHow.CUT,
                text(record) + " was retired in the middle of an exchange");
        long most = nanos(settings.maxAge(), 100 + settings.jitterPercent())
                + settings.grace().toNanos()
                + Settings.LINGER.toNanos()
                + SLACK_NANOS;
        check(record.durationNanos <= most, text(record) + " has outlived its hard limit");
        if (record.reason == CloseReason.MAX_AGE) {
            long least = nanos(settings.maxAge(), 100 - settings.jitterPercent());
            check(record.durationNanos >= least - SLACK_NANOS, text(record) + " ended before its soft limit");
        }
        check(record.reason != CloseReason.INTERNAL_ERROR, text(record) + " ended by a fault of our own");
    }

    private static long nanos(Duration whole, int percent) {
        return whole.toNanos() / 100 * percent;
    }

    // ---- at the end

    /** The balancer has stopped, and its clients have heard of it. */
    void onEnd(List<SimClient> clients) {
        check(network.openSockets() == 0, network.openSockets() + " sockets are open after the stop");
        check(proxy.connections().active() == 0, proxy.connections().active() + " connections after the stop");
        clients.forEach(this::checkClient);
    }

    private void checkClient(SimClient client) {
        check(client.fault().isEmpty(), client + ": " + client.fault());
        AccessRecord record = client.from() == null ? null : records.get(client.from());
        if (record == null || record.how == null || record.how == RetireHow.CUT || !wasWell(record)) {
            return;
        }
        switch (client.fate()) {
            case TRUNCATED -> throw new AssertionError(client + " was harmed by a graceful end: " + text(record));
            case RESET -> throw new AssertionError(client + " was reset by a graceful end: " + text(record));
            case UNANSWERED -> unanswered++;
            case UNDER_WAY, REFUSED, WELL -> {}
        }
    }

    private boolean wasWell(AccessRecord record) {
        return endpoints.stream()
                .filter(each -> each.address().equals(record.endpointAddress))
                .anyMatch(each -> each.wellSince(0));
    }

    private static String text(AccessRecord record) {
        return "the connection of " + record.client + " to " + record.endpoint + " after "
                + TimeUnit.NANOSECONDS.toMillis(record.durationNanos) + " ms (" + record.reason + ", how " + record.how
                + ", requests " + record.requests + ", received " + record.bytesReceived + ", sent " + record.bytesSent
                + ")";
    }

    // ---- what came

    /** A number that two runs of a seed agree in. */
    long trace() {
        return trace;
    }

    /** How many connections came to their end. */
    int ended() {
        return records.size();
    }

    /** How many of them in that way. */
    long ended(RetireHow how) {
        return records.values().stream().filter(record -> record.how == how).count();
    }

    /**
     * How many of them were retired while a request was on its way to an endpoint that is well. Near a hard limit some are, as
     * the silence that is asked for shrinks with the time that is left, and limits here are not much longer than answers take.
     */
    int unanswered() {
        return unanswered;
    }
}
