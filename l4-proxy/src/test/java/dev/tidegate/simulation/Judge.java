package dev.tidegate.simulation;

import dev.tidegate.admin.view.OperationView;
import dev.tidegate.control.Proxy;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.simulation.SimClient.Fate;
import dev.tidegate.telemetry.AccessRecord;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What must hold in a run, whatever happens: an {@link AssertionError} says what does not. */
final class Judge {
    /** Late by so much is in time: ticks of the wheel, and those of control. */
    private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Operations are looked at this often. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Set<CloseReason> RETIREMENTS = EnumSet.of(
            CloseReason.MAX_AGE,
            CloseReason.MAX_REQUESTS,
            CloseReason.DRAIN,
            CloseReason.REBALANCE,
            CloseReason.SHUTDOWN,
            CloseReason.ENDPOINT_DOWN,
            CloseReason.ENDPOINT_REMOVED);

    /** What connections end for while nothing happens but traffic. */
    private static final Set<CloseReason> CALM = EnumSet.of(
            CloseReason.CLIENT_CLOSED,
            CloseReason.CLIENT_RESET,
            CloseReason.ENDPOINT_CLOSED,
            CloseReason.MAX_AGE,
            CloseReason.MAX_REQUESTS,
            CloseReason.REJECTED_LIMIT,
            CloseReason.NO_ENDPOINT);

    private final SimNetwork network;
    private final Settings settings;
    private final List<SimEndpoint> endpoints;
    private final Map<InetSocketAddress, AccessRecord> records = new HashMap<>();
    private final Set<AccessRecord> calmlyRetired = new HashSet<>(); // as long as nothing had happened
    private final Notes notes;
    private Proxy proxy;
    private AssertionError failure;
    private long nextLookNanos;
    private long allFitNanos; // since when every endpoint takes connections; Long.MAX_VALUE while one does not
    private int unanswered;
    private long trace = 1;

    Judge(SimNetwork network, Settings settings, List<SimEndpoint> endpoints, Notes notes) {
        this.network = network;
        this.settings = settings;
        this.endpoints = endpoints;
        this.notes = notes;
    }

    /** Whom it judges. It is told of dials and of ends from then on. */
    void watch(Proxy judged) {
        proxy = judged;
    }

    /** For who is not within the balancer's own tasks. */
    static void check(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }

    /** For who is: a loop would take the error for one of its task, and go on. The run ends when the loops have turned. */
    void hold(boolean holds, Supplier<String> otherwise) {
        if (!holds && failure == null) {
            failure = new AssertionError(otherwise.get());
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
        if (picked == null) {
            hold(false, () -> "dials " + address + ", which is in no snapshot");
        } else {
            checkPicked(picked, another, backend.endpoints().spreading());
        }
    }

    private void checkPicked(Endpoint picked, boolean another, boolean spreading) {
        Fitness fitness = picked.cell().fitness();
        boolean onTrial = fitness.sound() && fitness.onTrial(); // of which this attempt has taken the last one
        boolean fit = fitness.fit() || onTrial || spreading;
        hold(picked.cell().open(), () -> "dials " + picked + ", which takes no connections");
        hold(fit || !another, () -> "dials " + picked + ", which is not fit, while another is");
        hold(
                picked.cell().inFlight() <= settings.endpointMax(),
                () -> picked + " has more than its limit of " + settings.endpointMax());
    }

    /** All loops have done what there was to do at this time. */
    void onTurned() {
        if (failure != null) {
            throw failure;
        }
        if (allFitNanos == Long.MAX_VALUE) {
            allFitNanos = network.now();
        }
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
            if (!endpoint.cell().fitness().fit()) {
                allFitNanos = Long.MAX_VALUE;
            }
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
        if (operation.state().equals("running") && operation.remaining() > 0 && operation.deadline() != null) {
            long late = network.now()
                    - Duration.between(Instant.EPOCH, operation.deadline()).toNanos();
            // Retired quietly just before it, a connection may still wait for its client to read its last bytes.
            hold(late <= SLACK_NANOS + Settings.LINGER.toNanos(), () -> operation + " has outlived its deadline");
        }
    }

    // ---- when a connection is over

    void onRecord(AccessRecord record) {
        if (record.reason == null) {
            hold(false, () -> "a connection has ended without a reason");
            return;
        }
        trace = 31 * trace + record.durationNanos;
        trace = 31 * trace + record.reason.ordinal();
        trace = 31 * trace + record.bytesSent;
        AccessRecord other = records.put((InetSocketAddress) record.client, record);
        hold(other == null, () -> "the connection of " + record.client + " has ended twice");
        hold(record.reason != CloseReason.INTERNAL_ERROR, () -> text(record) + " ended by a fault of our own");
        hold(
                !record.cutMidExchange || record.how == null || record.how == RetireHow.CUT,
                () -> text(record) + " was retired in the middle of an exchange");
        hold(
                record.how == null || RETIREMENTS.contains(record.reason),
                () -> text(record) + " was retired for no reason");
        checkWindow(record);
        if (notes.isEmpty()) {
            checkCalm(record);
        }
    }

    private void checkWindow(AccessRecord record) {
        long most = nanos(settings.maxAge(), 100 + settings.jitterPercent())
                + settings.grace().toNanos()
                + Settings.LINGER.toNanos()
                + SLACK_NANOS;
        hold(record.durationNanos <= most, () -> text(record) + " has outlived its hard limit");
        if (record.reason == CloseReason.MAX_AGE) {
            hold(record.durationNanos >= leastSoftNanos(record), () -> text(record) + " ended before its soft limit");
        }
        if (record.reason == CloseReason.MAX_REQUESTS) {
            hold(record.requests >= settings.maxRequests(), () -> text(record) + " ended before it had them");
        }
    }

    /** As long as nobody has done anything to the balancer or to endpoints, there is nothing else to end for. */
    private void checkCalm(AccessRecord record) {
        hold(
                CALM.contains(record.reason) || mayHaveMadeRoom(record),
                () -> text(record) + " has no cause for that: nothing has happened");
        if (record.how == RetireHow.CUT) {
            hold(isAtHardLimit(record), () -> text(record) + " was cut before its hard limit");
        }
        if (record.how != null) {
            calmlyRetired.add(record);
        }
    }

    /**
     * An endpoint whose first check is over later than others', or that is back from an ejection for answers that were slow, joins
     * them, while these have connections.
     */
    private boolean mayHaveMadeRoom(AccessRecord record) {
        long acceptedNanos = network.now() - record.durationNanos;
        return record.reason == CloseReason.REBALANCE && acceptedNanos <= allFitNanos;
    }

    /** It may have been: when it was accepted is known, and not its jitter. */
    private boolean isAtHardLimit(AccessRecord record) {
        return record.durationNanos >= leastSoftNanos(record) + settings.grace().toNanos();
    }

    private long leastSoftNanos(AccessRecord record) {
        return (record.reason == CloseReason.MAX_AGE ? nanos(settings.maxAge(), 100 - settings.jitterPercent()) : 0)
                - SLACK_NANOS;
    }

    private static long nanos(Duration whole, int percent) {
        return whole.toNanos() / 100 * percent;
    }

    // ---- at the end

    /** The balancer has stopped, and its clients have heard of it. */
    void onEnd(List<SimClient> clients) {
        check(network.openSockets() == 0, () -> network.openSockets() + " sockets are open after the stop");
        check(proxy.connections().active() == 0, () -> proxy.connections().active() + " connections after the stop");
        clients.forEach(this::checkClient);
    }

    private void checkClient(SimClient client) {
        AccessRecord record = client.from() == null ? null : records.get(client.from());
        boolean opaque = settings.protocol().equals("tcp");
        Passage.checkToClient(client, opaque);
        Passage.checkToEndpoint(client, opaque);
        checkLastLookedAt(client);
        if (record == null) {
            return;
        }
        checkWho(client, record);
        if (client.speech() == Speech.HTTP1 && !client.temper().eager() && record.protocol == Protocol.HTTP1) {
            check(
                    client.transcript().taken().size() <= settings.maxRequests(),
                    () -> client + " has made more requests than may be: " + text(record));
        }
        if (record.how != null && record.how != RetireHow.CUT) {
            checkRetired(client, record);
        }
    }

    /** What an endpoint has worked on, a client must not be told to ask again. */
    private static void checkLastLookedAt(SimClient client) {
        for (int request : client.transcript().taken()) {
            check(
                    request <= client.lastLookedAt(),
                    () -> "request " + request + " came to the endpoint, and the client was told that the last was "
                            + client.lastLookedAt() + ": " + client);
        }
    }

    /** Who is said to have ended it did. */
    private void checkWho(SimClient client, AccessRecord record) {
        switch (record.reason) {
            case CLIENT_RESET ->
                check(client.fate() == Fate.LEFT, () -> client + " has not reset its connection: " + text(record));
            case CLIENT_CLOSED ->
                check(client.hasEnded(), () -> client + " has not closed its connection: " + text(record));
            case ENDPOINT_RESET -> check(!wasWell(record), () -> "the endpoint had no cause to reset " + text(record));
            case ENDPOINT_CLOSED ->
                check(
                        !wasWell(record) || client.transcript().hasEndpointLeft(),
                        () -> "the endpoint had no cause to close " + text(record));
            default -> {}
        }
    }

    /** A graceful end: nobody is harmed by it, save by an endpoint's fault. */
    private void checkRetired(SimClient client, AccessRecord record) {
        boolean told = record.how == RetireHow.GOAWAY || record.how == RetireHow.RESPONSE;
        check(
                !told || client.isTold() || client.fate() != Fate.WELL,
                () -> client + " was not told that its connection ends: " + text(record));
        if (!wasWell(record)) {
            return;
        }
        switch (client.fate()) {
            case TRUNCATED -> throw new AssertionError(client + " was harmed by a graceful end: " + text(record));
            case RESET -> throw new AssertionError(client + " was reset by a graceful end: " + text(record));
            case UNANSWERED -> {
                check(
                        record.protocol == Protocol.TCP,
                        () -> client + " has lost a request by a graceful end: " + text(record));
                unanswered++;
            }
            case UNDER_WAY, REFUSED, LEFT, WELL -> {}
        }
        checkPatience(client, record);
    }

    /** As long as nobody wants anybody to hurry, time is given, and whoever is ended in silence has been silent. */
    private void checkPatience(SimClient client, AccessRecord record) {
        if (!calmlyRetired.contains(record)) {
            return;
        }
        if (client instanceof Http2Client http2 && !client.transcript().hasEndpointLeft()) {
            check(
                    !http2.isRefusedWithin(settings.grace().toNanos() - SLACK_NANOS),
                    () -> "streams were refused, with time to wait for them: " + client + ", " + text(record));
        }
        boolean knownAtHardLimit = record.protocol != Protocol.TCP && isAtHardLimit(record);
        if (record.how == RetireHow.QUIET && !knownAtHardLimit && client.silentBeforeEndNanos() > 0) {
            check(
                    client.silentBeforeEndNanos() >= Settings.QUIET.toNanos() - SLACK_NANOS / 2,
                    () -> "after a silence of " + TimeUnit.NANOSECONDS.toMillis(client.silentBeforeEndNanos())
                            + " ms somebody was sent away: " + client + ", " + text(record));
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
                + ", " + record.protocol
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
