package dev.tidegate.connection;

import dev.tidegate.dial.Dial;
import dev.tidegate.dial.DialOutcome;
import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Expirable;
import dev.tidegate.lifetime.Lifespan;
import dev.tidegate.model.BornRetiring;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import dev.tidegate.model.Side;
import dev.tidegate.protocol.Detection;
import dev.tidegate.protocol.Tracker;
import dev.tidegate.relay.Flow;
import dev.tidegate.relay.FlowHandler;
import dev.tidegate.relay.FlowOwner;
import dev.tidegate.relay.RelayWire;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.FrontendRow;
import dev.tidegate.worker.Resident;
import dev.tidegate.worker.ResidentInfo;
import dev.tidegate.worker.Worker;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's TCP connection with all that is done for it, both sides, from accept to close.
 *
 * <pre>
 *   ADMITTED -> DIALING -> RELAYING -> CLOSING -> CLOSED
 *                  |            \__________________^   both directions ended by themselves
 *                  \_______________________________^   no endpoint, or the client has gone
 * </pre>
 *
 * Retiring is a mark with a deadline, not a state ({@link Lifespan}): a retiring connection goes on working. In CLOSING it
 * either flushes to one side what the other had sent before its reset, or lingers for the client to read the last bytes, or
 * parts from a client in the middle of something.
 *
 * <p>Confined to its worker's loop. What is called for every read ({@link #onBytes}) allocates nothing, locks nothing and
 * looks at no clock.
 */
public final class Connection implements FlowOwner, DialOutcome, Resident, Expirable {
    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    private static final long SECOND = 1_000_000_000L;
    /** The age from which on a connection gets the options that only lasting ones need. */
    private static final long LATE_OPTIONS_NANOS = SECOND;
    /** A reset that no event tells of is found within this. */
    private static final long BLIND_LOOK_NANOS = SECOND;
    /** A blocked write is looked at this many times within the time that silence may last. */
    private static final int LOOKS_AT_BLOCKED = 16;
    /** In its latter half, what the kernel still delivers is looked at after each such part of that time. */
    private static final int LOOKS_AT_DELIVERY = 4;

    private enum State {
        ADMITTED,
        DIALING,
        RELAYING,
        CLOSING,
        CLOSED
    }

    private final ConnectionContext context;
    private final Worker worker;
    private final Frontend frontend;
    private final String listener;
    private final long generation;
    private final long sequence;
    private final long acceptedNanos;
    private final FrontendRow row;
    private final Channel downstream;
    private final FlowHandler downstreamHandler;
    private final Flow toEndpoint;
    private final InetSocketAddress client;
    private final InetSocketAddress local;

    private State state = State.ADMITTED;
    private Dial dial;
    private FlowHandler upstreamHandler;
    private Sides sides; // null until an endpoint is connected
    private Endpoint held;
    private LastAct lastAct; // in CLOSING only

    private final Alarm alarm;
    private final Ending ending = new Ending();
    private final FirstAnswer answer;
    private final Progress progress;
    private final Lifespan lifespan;
    private final RelayWire wire;
    private boolean countsExchanges; // by who speaks: of a known protocol its tracker counts
    private boolean over; // the last exchange is done; what is queued to the endpoint has to leave
    private long connectNanos = AccessRecord.NONE;
    private boolean lateOptionsSet;
    private Side firstFin;
    private Side writeFailed;
    private Throwable writeFault;

    /** Takes over an accepted channel, not yet registered. The caller has had it admitted. */
    Connection(ConnectionContext context, Channel downstream, Frontend frontend, String listener, long generation) {
        this.context = context;
        this.worker = context.worker();
        this.downstream = downstream;
        this.frontend = frontend;
        this.listener = listener;
        this.generation = generation;
        this.sequence = worker.nextSequence();
        this.acceptedNanos = worker.nowNanos();
        this.alarm = new Alarm(worker.deadlines(), this);
        this.answer = new FirstAnswer(worker.counters(), frontend.backend().watch());
        this.progress = new Progress(acceptedNanos);
        this.lifespan = new Lifespan(
                frontend.cell(),
                frontend.lifetime(),
                acceptedNanos,
                2 * worker.random().nextDouble() - 1);
        this.row = worker.counters().frontend(frontend.cell().slot());
        this.client = (InetSocketAddress) downstream.remoteAddress();
        this.local = (InetSocketAddress) downstream.localAddress();
        this.downstreamHandler = new FlowHandler(Side.DOWNSTREAM, this);
        this.toEndpoint = new Flow(Side.DOWNSTREAM, downstream, this);
        downstreamHandler.join(toEndpoint, null);
        this.wire = new RelayWire(this, downstream, toEndpoint);
        Detection.begin(frontend.protocol(), wire, worker.random());
        this.countsExchanges = wire.tracker() == null;
    }

    /** Begins: reads from the client, and dials. */
    void start() {
        assert worker.inLoop();
        worker.settle(this);
        enter(State.DIALING);
        alarm.at(earlier(acceptedNanos + LATE_OPTIONS_NANOS, lifespan.nextNanos(acceptedNanos)));
        BornRetiring born = frontend.cell().bornRetiring();
        if (born != null) {
            retire(born.order(), acceptedNanos, born.hardNanos(acceptedNanos));
        }
        downstream.pipeline().addLast(downstreamHandler);
        worker.loop().register(downstream);
        if (client == null || local == null) {
            // It was gone before it was looked at: the kernel no longer knows whose it was.
            reset(Side.DOWNSTREAM, CloseReason.CLIENT_RESET);
            return;
        }
        dial = new Dial(context.dialer(), frontend.backend(), this, client, local);
        dial.start();
    }

    @Override
    public long sequence() {
        return sequence;
    }

    // ---- dialing

    @Override
    public ChannelHandler nextHandler() {
        upstreamHandler = new FlowHandler(Side.UPSTREAM, this);
        return upstreamHandler;
    }

    @Override
    public void onConnected(Channel channel) {
        assert worker.inLoop();
        held = dial.endpoint();
        sides = new Sides(downstream, channel, toEndpoint, new Flow(Side.UPSTREAM, channel, this));
        worker.counters().endpoint(held.cell().slot()).requests += lifespan.requests(); // seen while it was dialed
        try {
            join(channel);
        } catch (RuntimeException fault) {
            context.floods().count(FloodLog.Kind.INTERNAL_ERROR, "connection of frontend " + frontend.name(), fault);
            abort(CloseReason.INTERNAL_ERROR);
        }
    }

    private void join(Channel channel) {
        lifespan.arriveAt(held.cell()); // the endpoint tried before is to be left, perhaps this one is not
        stayUnlessRetiring();
        long now = worker.nowNanos();
        connectNanos = now - acceptedNanos;
        progress.moved(now);
        enter(State.RELAYING);
        Flow toClient = sides.toClient();
        toClient.connectTo(downstream);
        wire.join(toClient);
        if (firstFin != null) {
            watchHalfClosed();
        } else {
            alarm.by(now + silenceAllowedNanos()); // the deadline of the dial may be later
        }
        if (progress.clientSpoke()) {
            awaitAnswer(now);
        }
        upstreamHandler.join(toClient, toEndpoint);
        downstreamHandler.join(toEndpoint, toClient);
        toEndpoint.connectTo(channel);
        if (((DuplexChannel) channel).isOutputShutdown() && !toEndpoint.finSent()) {
            // The PROXY header met a reset, of which nobody was told while the flows were not joined.
            onWriteFailed(Side.UPSTREAM, null);
        }
    }

    @Override
    public void onDialFailed(CloseReason why) {
        assert worker.inLoop();
        end(why, why == CloseReason.CLIENT_CLOSED ? Side.DOWNSTREAM : null);
        sumUp(why);
        Resets.reset(downstream);
        finish();
    }

    /** One line a second says what may come at any rate; the access log has each. */
    private void sumUp(CloseReason why) {
        if (why == CloseReason.NO_ENDPOINT) {
            context.floods().count(FloodLog.Kind.NO_ENDPOINT, frontend.backend().name());
        } else if (why == CloseReason.DIAL_REFUSED) {
            context.floods().count(FloodLog.Kind.DIAL_REFUSED, dial.endpoint().cell());
        } else if (why == CloseReason.DIAL_TIMEOUT) {
            context.floods().count(FloodLog.Kind.DIAL_TIMEOUT, dial.endpoint().cell());
        } else if (why == CloseReason.DIAL_FAILED) {
            context.floods().count(FloodLog.Kind.DIAL_FAILED, dial.endpoint().cell(), dial.lastCause());
        }
    }

    // ---- relaying

    /** Hot: no allocation, no log, no clock (but for the first byte of an answer). */
    @Override
    public void onBytes(Side from, int count, long delivered) {
        long now = worker.coarseNanos();
        boolean answers = from == Side.UPSTREAM && progress.clientSpokeLast();
        if (progress.spoke(from, now) && countsExchanges) {
            onRequest();
        }
        if (lifespan.addBytes(count, now)) {
            beginToRetire(now);
        }
        if (answers && lifespan.retiring(now)) {
            // While an answer was owed the next look was put far off; now much less silence may be enough.
            alarm.by(now + lifespan.neededSilenceNanos(progress.seen(), now));
        }
        if (from == Side.DOWNSTREAM) {
            row.receivedBytes += count;
            if (!answer.begun() && !answer.due() && state == State.RELAYING) {
                awaitAnswer(now);
            }
        } else {
            row.sentBytes += delivered;
            if (!answer.begun()) {
                answer.begins(worker.nowNanos() - acceptedNanos, held);
            }
        }
    }

    private void awaitAnswer(long nowNanos) {
        if (answer.await(nowNanos)) {
            alarm.by(answer.dueNanos());
        }
    }

    @Override
    public void onRequest() {
        long now = worker.coarseNanos();
        row.countRequest(wire.protocolOfRequest());
        if (held != null) {
            worker.counters().endpoint(held.cell().slot()).requests++;
        }
        if (lifespan.addRequest(now)) {
            beginToRetire(now);
        }
    }

    @Override
    public void onOpaque() {
        countsExchanges = true;
        if (lifespan.requests() == 0 && progress.clientSpoke()) {
            onRequest(); // it was not counted while its meaning was sought, perhaps until its answer
        }
    }

    @Override
    public void onSwitched() {
        countsExchanges = false;
    }

    @Override
    public void onOver() {
        if (state != State.RELAYING || over) {
            return;
        }
        over = true;
        if (toEndpoint.state() == Flow.State.SHUT) {
            endQuietly(worker.nowNanos()); // the client has been told, and its last exchange is over
        } else {
            toEndpoint.end(); // what is queued still goes to the endpoint; onDrained goes on from there
        }
    }

    @Override
    public void onUnheeded() {
        long now = worker.nowNanos();
        lifespan.hurry(now);
        alarm.by(now);
    }

    @Override
    public void onPause(Side from, boolean paused) {
        if (paused) {
            worker.counters().countPaused(from);
            if (state == State.RELAYING) {
                // A blocked write shows no event while it moves within the kernel's limits: it must be looked at.
                alarm.by(worker.coarseNanos() + blockedLookNanos());
            }
        } else {
            // What was blocked has moved, and more waits to be read: with nothing queued this is no silence.
            progress.moved(worker.coarseNanos());
        }
        if (paused) {
            lookWhileNotReading();
        }
    }

    @Override
    public void onHeld(Side from) {
        lookWhileNotReading();
    }

    private void lookWhileNotReading() {
        if (context.sockets().missesResetWhenPaused() && state == State.RELAYING) {
            alarm.by(worker.coarseNanos() + BLIND_LOOK_NANOS);
        }
    }

    @Override
    public void onFin(Side from) {
        assert worker.inLoop();
        switch (state) {
            case DIALING -> {
                firstFin = Side.DOWNSTREAM;
                dial.onClientEnded(toEndpoint.bytesRead() > 0);
            }
            case RELAYING -> onFinWhileRelaying(from);
            case CLOSING -> lastAct.onFin(from);
            case ADMITTED, CLOSED -> {}
        }
    }

    private void onFinWhileRelaying(Side from) {
        if (from == writeFailed || isResetUnderWrite(from)) {
            // It had ended before our write, and answered the write with a reset that reading does not show any more.
            onFault(
                    from,
                    from == writeFailed ? writeFault("reset after its end") : new IOException("reset under a write"));
            return;
        }
        progress.moved(worker.coarseNanos());
        if (firstFin == null) {
            firstFin = from;
            watchHalfClosed();
        }
    }

    /**
     * Whether what looks like an end is a reset. The kernel tells of a reset once: a write that is under way may have been
     * told, and then reading sees a mere end before the write's failure is heard of.
     */
    private boolean isResetUnderWrite(Side from) {
        return sides.into(from).queuedBytes() != 0 && context.sockets().isDead(sides.channel(from));
    }

    private void watchHalfClosed() {
        alarm.by(progress.lastNanos() + frontend.timeouts().halfClosedNanos());
        if (context.sockets().missesResetWhenHalfClosed()) {
            alarm.by(progress.lastNanos() + BLIND_LOOK_NANOS);
        }
    }

    /** Whether one of its sockets may have been reset with no event telling of it. */
    private boolean blind() {
        return (firstFin != null && context.sockets().missesResetWhenHalfClosed())
                || ((toEndpoint.paused()
                                || toEndpoint.holding()
                                || sides.toClient().paused())
                        && context.sockets().missesResetWhenPaused());
    }

    @Override
    public void onDrained(Flow flow) {
        assert worker.inLoop();
        if (state == State.CLOSING) {
            lastAct.onDrained(flow);
        }
        if (state != State.RELAYING) {
            return;
        }
        if (over && flow == toEndpoint) {
            endQuietly(worker.nowNanos()); // the client has been told, and its last exchange is over
            return;
        }
        Flow other = flow == toEndpoint ? sides.toClient() : toEndpoint;
        if (other.state() != Flow.State.SHUT) {
            flow.sendFin();
            if (other == toEndpoint) {
                // What is held of the client would have been answered behind this end: now its own is waited for.
                toEndpoint.dropRest();
            }
        } else {
            // Both have ended and all has left: closing sends the FIN that is missing.
            end(firstFin == Side.DOWNSTREAM ? CloseReason.CLIENT_CLOSED : CloseReason.ENDPOINT_CLOSED, firstFin);
            finish();
        }
    }

    // ---- faults

    @Override
    public void onWriteFailed(Side side, Throwable cause) {
        assert worker.inLoop();
        if (state == State.CLOSING) {
            lastAct.onWriteFailed(side);
        } else if (state == State.RELAYING && !ending.decided() && writeFailed == null) {
            writeFailed = side;
            writeFault = cause;
            progress.moved(worker.nowNanos());
            settle();
            sides.into(side).stop();
            Flow outOf = sides.outOf(side);
            if (outOf.ended()) {
                onFault(side, writeFault("reset after its end"));
            } else {
                // What it had sent before is still to be read; its reset follows. If it does not, the deadline ends
                // this.
                outOf.readToTheEnd();
                alarm.by(progress.lastNanos() + FlushAfterReset.PATIENCE_NANOS);
            }
        }
    }

    /** What the write met says more than what reading shows then: a time-out is heard of once. */
    private Throwable writeFault(String otherwise) {
        return writeFault == null ? new IOException(otherwise) : writeFault;
    }

    @Override
    public void onFault(Side side, Throwable cause) {
        assert worker.inLoop();
        switch (state) {
            case DIALING -> {
                if (side == Side.DOWNSTREAM) {
                    reset(side, reasonOf(side, cause));
                }
            }
            case RELAYING -> reset(side, reasonOf(side, cause));
            case CLOSING -> lastAct.onFault(side);
            case ADMITTED, CLOSED -> {}
        }
    }

    private CloseReason reasonOf(Side side, Throwable cause) {
        CloseReason why = Faults.reason(side, cause);
        if (why == CloseReason.OVERLOAD) {
            context.floods().count(FloodLog.Kind.OVERLOAD, frontend.name(), cause);
        } else if (why == CloseReason.INTERNAL_ERROR) {
            context.floods().count(FloodLog.Kind.INTERNAL_ERROR, "connection of frontend " + frontend.name(), cause);
        }
        return why;
    }

    /** A side's socket is dead. What it sent before goes to the other side first; then that is reset too. */
    private void reset(Side side, CloseReason why) {
        end(why, side);
        if (state == State.DIALING) {
            if (dial != null) {
                dial.cancel();
            }
            finish();
            return;
        }
        if (why == CloseReason.ENDPOINT_RESET && !answer.begun() && firstFin == null) {
            answer.blame(Failure.RESET, held);
        }
        settle();
        sides.into(side).stop();
        enter(State.CLOSING);
        FlushAfterReset flush = new FlushAfterReset(this, Sides.other(side), sides, context.sockets(), progress, alarm);
        lastAct = flush;
        // Should it live after all, it must not take this for a clean end.
        Resets.reset(sides.channel(side));
        flush.begin(worker.nowNanos());
    }

    /** Whatever the other side has got by now, it gets no more. */
    void finishByReset(Channel channel) {
        settle();
        Resets.reset(channel);
        finish();
    }

    private void checkSockets() {
        checkSocket(Side.DOWNSTREAM);
        if (state == State.RELAYING) {
            checkSocket(Side.UPSTREAM);
        }
    }

    private void checkSocket(Side side) {
        // A socket that has sent our FIN is dead as soon as its own has come: that is in order, and reading tells it.
        if (sides.into(side).finSent() || !context.sockets().isDead(sides.channel(side))) {
            return;
        }
        Flow read = sides.outOf(side);
        if ((read.paused() || read.holding()) && !read.ended()) {
            read.readToTheEnd();
        } else {
            onFault(side, new IOException("reset, by the kernel's word"));
        }
    }

    // ---- retiring and time

    @Override
    public void retire(RetireOrder order, long startNanos, long hardNanos) {
        assert worker.inLoop();
        if (state != State.DIALING && state != State.RELAYING) {
            return; // it is on its way out already
        }
        long now = worker.nowNanos();
        lifespan.retire(order, startNanos, hardNanos, now);
        if (lifespan.retiring(now)) {
            beginToRetire(now);
        } else {
            alarm.by(lifespan.nextNanos(now));
        }
    }

    /** It may end from now on: whoever knows its exchanges looks for the moment. */
    private void beginToRetire(long nowNanos) {
        if (wire.tracker() != null) {
            wire.tracker().retire();
        }
        if (state == State.DIALING || state == State.RELAYING) {
            alarm.by(nowNanos);
        }
    }

    @Override
    public void stay(RetireOrder order) {
        assert worker.inLoop();
        if (state != State.DIALING && state != State.RELAYING) {
            return;
        }
        if (wire.told() != null) {
            lifespan.leaveWithoutDeadline(order);
        } else {
            lifespan.stay(order);
            stayUnlessRetiring();
        }
    }

    private void stayUnlessRetiring() {
        if (wire.tracker() != null && !lifespan.retiring(worker.nowNanos())) {
            wire.tracker().stay();
        }
    }

    @Override
    public void relimit(Lifetime limits) {
        assert worker.inLoop();
        if (state != State.DIALING && state != State.RELAYING) {
            return;
        }
        long now = worker.nowNanos();
        lifespan.relimit(limits, wire.told() != null, worker.random().nextDouble(), now);
        stayUnlessRetiring();
        alarm.by(lifespan.nextNanos(now));
    }

    @Override
    public boolean under(RetireOrder order) {
        return lifespan.under(order);
    }

    @Override
    public boolean leaving() {
        return lifespan.marked() || state == State.CLOSING;
    }

    @Override
    public long acceptedNanos() {
        return acceptedNanos;
    }

    @Override
    public long progressNanos() {
        return progress.lastNanos();
    }

    @Override
    public ResidentInfo info() {
        CloseReason retiring = ending.decided() ? ending.reason() : lifespan.reason(worker.nowNanos());
        Endpoint endpoint = dial == null ? null : dial.endpoint();
        return new ResidentInfo(
                worker.index(),
                sequence,
                frontend.name(),
                listener,
                client,
                frontend.backend().name(),
                endpoint == null ? null : endpoint.name(),
                endpoint == null ? null : dial.address(),
                state.name().toLowerCase(Locale.ROOT),
                wire.protocol(),
                retiring == null ? null : retiring.word(),
                wire.told() != null,
                softNanos(),
                acceptedNanos,
                progress.lastNanos(),
                lifespan.requests(),
                toEndpoint.bytesRead(),
                sides == null ? 0 : sides.toClient().bytesDelivered(),
                generation);
    }

    /** When it comes to be retired by what is known now; null when it is so already, or nothing is going to. */
    private Long softNanos() {
        long now = worker.nowNanos();
        if (ending.decided() || lifespan.retiring(now)) {
            return null;
        }
        long soft = lifespan.nextNanos(now);
        return soft - now >= Lifespan.NEVER / 2 ? null : Long.valueOf(soft);
    }

    @Override
    public FrontendCell frontend() {
        return frontend.cell();
    }

    @Override
    public EndpointCell endpoint() {
        if (held != null) {
            return held.cell();
        }
        return state == State.DIALING && dial != null && dial.endpoint() != null
                ? dial.endpoint().cell()
                : null;
    }

    @Override
    public long picksUnder() {
        return state == State.ADMITTED || state == State.DIALING ? generation : Long.MAX_VALUE;
    }

    @Override
    public void onDeadline(long nowNanos) {
        alarm.rung();
        try {
            switch (state) {
                case DIALING -> onDeadlineWhileDialing(nowNanos);
                case RELAYING -> onDeadlineWhileRelaying(nowNanos);
                case CLOSING -> lastAct.onDeadline(nowNanos);
                case ADMITTED, CLOSED -> throw new IllegalStateException("a deadline in state " + state);
            }
        } catch (RuntimeException fault) {
            log.error("a deadline failed conn={} frontend={}", this, frontend.name(), fault);
            abort(CloseReason.INTERNAL_ERROR);
        }
    }

    private void onDeadlineWhileDialing(long nowNanos) {
        long lastCall = acceptedNanos + frontend.backend().connect().deadlineNanos() + SECOND;
        lifespan.lookAtAge(nowNanos);
        if (lifespan.atHardLimit(nowNanos)) {
            cut(lifespan.reason(nowNanos));
        } else if (nowNanos - lastCall >= 0) {
            throw new IllegalStateException("the dial is neither done nor has it failed");
        } else {
            alarm.at(earlier(nowNanos + LATE_OPTIONS_NANOS, lifespan.nextNanos(nowNanos)));
        }
    }

    private void onDeadlineWhileRelaying(long nowNanos) {
        if (blind()) {
            checkSockets();
            if (state != State.RELAYING) {
                return;
            }
        }
        progress.lookAtWrites(toEndpoint.writeProgress() + sides.toClient().writeProgress(), queued(), nowNanos);
        if (writeFailed != null && progress.silentNanos(nowNanos) >= FlushAfterReset.PATIENCE_NANOS) {
            onFault(writeFailed, writeFault("write failed, and no end followed"));
            return;
        }
        if (!lateOptionsSet) {
            lateOptionsSet = true;
            if (writeFailed == null) {
                answer.lookIfBorne(held);
            }
            int unackedMillis = frontend.timeouts().unackedMillis();
            context.sockets().setLateOptions(downstream, true, unackedMillis);
            context.sockets().setLateOptions(sides.upstream(), false, unackedMillis);
        }
        answer.lookIfLate(nowNanos, held);
        lifespan.lookAtAge(nowNanos);
        if (lifespan.retiring(nowNanos) && endedByRetirement(nowNanos)) {
            return;
        }
        noteDelivery(nowNanos);
        // One look at the kernel alone, where others were late or the time is short, tells nothing of what it delivers.
        if (progress.silentNanos(nowNanos) >= silenceAllowedNanos()
                && progress.undeliveredNanos(nowNanos) >= silenceAllowedNanos() / LOOKS_AT_DELIVERY) {
            endBySilence();
            return;
        }
        alarm.at(nextLookNanos(nowNanos));
    }

    private long nextLookNanos(long nowNanos) {
        long next = progress.lastNanos() + silenceAllowedNanos() / 2;
        if (nowNanos - next >= 0) {
            long end = progress.lastNanos() + silenceAllowedNanos();
            long look = nowNanos + silenceAllowedNanos() / LOOKS_AT_DELIVERY;
            next = nowNanos - end >= 0 ? look : earlier(end, look);
        }
        if (queued()) {
            next = earlier(next, nowNanos + blockedLookNanos());
        }
        if (blind()) {
            next = earlier(next, nowNanos + BLIND_LOOK_NANOS);
        }
        if (answer.due()) {
            next = earlier(next, answer.dueNanos());
        }
        if (writeFailed != null) {
            next = earlier(next, progress.lastNanos() + FlushAfterReset.PATIENCE_NANOS);
        }
        if (lifespan.retiring(nowNanos)) {
            // The silence needed shrinks with what remains, so it is asked again in steps, and when it will be there.
            long needed = lifespan.neededSilenceNanos(progress.seen(), nowNanos);
            long enough = progress.lastNanos() + needed;
            next = earlier(next, nowNanos + Math.max(Deadlines.TICK_NANOS, needed / 8));
            next = nowNanos - enough < 0 ? earlier(next, enough) : next;
        }
        return earlier(next, lifespan.nextNanos(nowNanos));
    }

    private static long earlier(long a, long b) {
        return a - b <= 0 ? a : b;
    }

    /** A half-closed connection keeps silence by another limit than one whose directions are both open. */
    private long silenceAllowedNanos() {
        return firstFin == null
                ? frontend.timeouts().idleNanos()
                : frontend.timeouts().halfClosedNanos();
    }

    private long blockedLookNanos() {
        return Math.max(2 * Deadlines.TICK_NANOS, silenceAllowedNanos() / LOOKS_AT_BLOCKED);
    }

    /** Asked for only in the latter half of a silence: the kernel has to be asked. */
    private void noteDelivery(long nowNanos) {
        if (progress.silentNanos(nowNanos) < silenceAllowedNanos() / 2) {
            progress.forgetDelivery();
        } else {
            progress.lookAtDelivery(
                    context.sockets().undelivered(downstream)
                            + context.sockets().undelivered(sides.upstream()),
                    nowNanos);
        }
    }

    private boolean queued() {
        return toEndpoint.queuedBytes() != 0 || sides.toClient().queuedBytes() != 0;
    }

    private void endBySilence() {
        if (firstFin != null) {
            // One direction never ended: ending it with a FIN would make it look whole.
            cutWithoutRetirement(CloseReason.HALF_CLOSED_TIMEOUT);
        } else if (queued() || inKnownExchange()) {
            // Nor may what was begun look whole: some responses are ended by nothing but the end of their connection.
            cutWithoutRetirement(CloseReason.IDLE);
        } else {
            endGracefully(CloseReason.IDLE);
        }
    }

    private boolean inKnownExchange() {
        Tracker tracker = wire.tracker();
        return tracker != null && tracker.recognised() && tracker.exchangeOpen();
    }

    private boolean endedByRetirement(long nowNanos) {
        Tracker tracker = wire.tracker();
        if (tracker != null) {
            tracker.retire(); // it may be the first that it hears of it, or have found a moment just now
        }
        if (state != State.RELAYING) {
            return true;
        }
        if (over) {
            return cutIfHard(nowNanos);
        }
        if (mayEndBySilence(tracker, nowNanos)) {
            endQuietly(nowNanos);
            return true;
        }
        if (lifespan.atHardLimit(nowNanos) && tracker != null && tracker.recognised()) {
            boolean open = tracker.exchangeOpen() || queued() || firstFin != null;
            boolean said = tracker.lastWord();
            if (state != State.RELAYING) {
                return true; // it met a dead socket, which has ended the connection
            } else if (said) {
                part(lifespan.reason(nowNanos), open ? RetireHow.CUT : tracker.how());
                return true;
            }
        }
        return cutIfHard(nowNanos);
    }

    private boolean cutIfHard(long nowNanos) {
        boolean hard = lifespan.atHardLimit(nowNanos);
        if (hard) {
            cut(lifespan.reason(nowNanos));
        }
        return hard;
    }

    private boolean mayEndBySilence(Tracker tracker, long nowNanos) {
        if (queued() || firstFin != null || (tracker != null && !tracker.endsBySilence())) {
            return false;
        }
        if (tracker != null && tracker.recognised()) {
            return lifespan.atHardLimit(nowNanos)
                    || nowNanos - lifespan.betweenExchangesUntilNanos(progress.lastNanos(), nowNanos) >= 0;
        }
        return progress.silentNanos(nowNanos) >= lifespan.neededSilenceNanos(progress.seen(), nowNanos);
    }

    // ---- ends

    /** A retiring connection, at a moment that hurts nobody. */
    private void endQuietly(long nowNanos) {
        ending.retired(wire.told() == null ? RetireHow.QUIET : wire.told());
        endGracefully(lifespan.reason(nowNanos));
    }

    /**
     * With nothing queued to the endpoint: FIN to both sides, to the client behind the last byte; the endpoint let go at
     * once, the client given time to read.
     */
    private void endGracefully(CloseReason why) {
        long untilNanos = worker.nowNanos() + lifespan.limits().lingerNanos();
        Goodbye goodbye = Goodbye.lingering(this, sides, context.sockets(), alarm, untilNanos);
        beginToClose(why, goodbye);
        sides.upstream().close();
        sayGoodbye(goodbye);
    }

    /** The hard limit, with a last word under way to the client: FIN behind it, and a reset soon after. */
    private void part(CloseReason why, RetireHow as) {
        ending.retired(as);
        Goodbye goodbye = Goodbye.parting(this, sides, context.sockets(), alarm, worker.nowNanos());
        beginToClose(why, goodbye);
        if (as == RetireHow.CUT) {
            Resets.reset(sides.upstream());
        } else {
            sides.upstream().close();
        }
        sayGoodbye(goodbye);
    }

    private void beginToClose(CloseReason why, Goodbye goodbye) {
        end(why, null);
        settle();
        enter(State.CLOSING);
        lastAct = goodbye;
        toEndpoint.discard();
    }

    private void sayGoodbye(Goodbye goodbye) {
        releaseEndpoint();
        lifespan.ended(ending.reason(), ending.how());
        goodbye.begin();
    }

    /** The hard limit: a reset on both sides, in the middle of what it was doing. */
    private void cut(CloseReason why) {
        ending.retired(RetireHow.CUT);
        cutWithoutRetirement(why);
    }

    private void cutWithoutRetirement(CloseReason why) {
        end(why, null);
        abortNow();
    }

    @Override
    public void abort(CloseReason why) {
        assert worker.inLoop();
        if (state == State.CLOSED) {
            return;
        }
        if (!ending.decided() && (lifespan.marked() || why == CloseReason.SHUTDOWN || why == CloseReason.KILLED)) {
            ending.retired(RetireHow.CUT);
        }
        end(why, null);
        abortNow();
    }

    private void abortNow() {
        if (state == State.DIALING && dial != null) {
            dial.cancel();
        }
        settle();
        Resets.reset(downstream);
        if (sides != null) {
            Resets.reset(sides.upstream());
        }
        finish();
    }

    /** The first reason wins. Whoever leaves because it was told to, leaves for what it was told. */
    private void end(CloseReason why, Side by) {
        if (ending.decided()) {
            return;
        }
        boolean inOrder = why == CloseReason.CLIENT_CLOSED || why == CloseReason.ENDPOINT_CLOSED;
        CloseReason told = inOrder && wire.told() != null ? lifespan.reason(worker.nowNanos()) : null;
        if (told != null) {
            ending.retired(wire.told());
        }
        ending.decide(told == null ? why : told, by);
    }

    /** What has left to the client is counted. */
    private void settle() {
        if (sides != null) {
            row.sentBytes += sides.toClient().settle();
        }
    }

    /** The one place where everything that the connection holds is given back. */
    void finish() {
        if (state == State.CLOSED) {
            return;
        }
        settle();
        enter(State.CLOSED);
        alarm.cancel();
        toEndpoint.discard();
        if (sides != null) {
            sides.toClient().discard();
        }
        downstream.close();
        if (sides != null) {
            sides.upstream().close();
        }
        releaseEndpoint();
        lifespan.ended(ending.reason(), ending.how());
        context.admission().leave(frontend);
        worker.leave(this);
        long duration = worker.nowNanos() - acceptedNanos;
        row.duration.add(duration);
        ending.count(row);
        context.accessLog().accept(record(duration));
    }

    private void releaseEndpoint() {
        if (held != null) {
            Endpoint endpoint = held;
            held = null;
            endpoint.cell().release();
        }
    }

    private AccessRecord record(long duration) {
        AccessRecord record = new AccessRecord();
        record.worker = worker.index();
        record.sequence = sequence;
        record.frontend = frontend.name();
        record.listener = listener;
        record.client = client;
        record.local = local;
        record.backend = frontend.backend().name();
        if (dial != null && dial.endpoint() != null) {
            record.endpoint = dial.endpoint().name();
            record.endpointAddress = dial.address();
        }
        record.generation = generation;
        record.connectNanos = connectNanos;
        record.firstByteNanos = answer.nanos();
        record.durationNanos = duration;
        record.bytesReceived = toEndpoint.bytesRead();
        record.bytesSent = sides == null ? 0 : sides.toClient().bytesSettled();
        record.protocol = wire.protocol();
        record.requests = lifespan.requests();
        record.attempts = dial == null ? 0 : dial.attempts();
        ending.tell(record);
        return record;
    }

    // ---- machinery

    private void enter(State next) {
        boolean possible =
                switch (state) {
                    case ADMITTED -> next == State.DIALING;
                    case DIALING -> next == State.RELAYING || next == State.CLOSED;
                    case RELAYING -> next == State.CLOSING || next == State.CLOSED;
                    case CLOSING -> next == State.CLOSED;
                    case CLOSED -> false;
                };
        if (!possible) {
            throw new IllegalStateException(this + ": from " + state + " to " + next);
        }
        state = next;
    }

    @Override
    public String toString() {
        return worker.index() + "-" + sequence;
    }
}
