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
import dev.tidegate.model.EndpointWatch;
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
import io.netty.channel.ChannelOption;
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
    /** Without progress for this long, what is still queued after a reset is given up. */
    private static final long FLUSH_NANOS = SECOND;
    /** The age from which on a connection gets the options that only lasting ones need. */
    private static final long LATE_OPTIONS_NANOS = SECOND;
    /** How long the client may take to read the last bytes, as long as they still drain to it. */
    private static final long DRAINING_LINGER_NANOS = 30 * SECOND;
    /** How long a client that was sent a last word and FIN at the hard limit has until it is reset. */
    private static final long PARTING_NANOS = SECOND;
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

    private enum Closing {
        NOT,
        FLUSHING,
        LINGERING,
        PARTING
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
    private Closing closing = Closing.NOT;
    private Dial dial;
    private FlowHandler upstreamHandler;
    private Channel upstream;
    private Flow toClient;
    private Endpoint held;

    private final Progress progress;
    private final Lifespan lifespan;
    private final RelayWire wire;
    private boolean countsExchanges; // by who speaks: of a known protocol its tracker counts
    private boolean over; // the last exchange is done; what is queued to the endpoint has to leave
    private long connectNanos = AccessRecord.NONE;
    private long firstByteNanos = AccessRecord.NONE;
    private long answerDueNanos; // when the endpoint is late with its first byte
    private boolean answerDue; // whether it is to begin by then
    private boolean lateOptionsSet;
    private Side firstFin;
    private Side writeFailed;
    private Throwable writeFault;

    private long deadlineHandle = Deadlines.UNARMED;
    private long deadlineNanos;

    private CloseReason reason;
    private Side closedBy;
    private RetireHow how;
    private boolean cutMidExchange;
    private long lingerUntilNanos;

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
        arm(earlier(acceptedNanos + LATE_OPTIONS_NANOS, lifespan.nextNanos(acceptedNanos)));
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
        upstream = channel;
        held = dial.endpoint();
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
        toClient = new Flow(Side.UPSTREAM, channel, this);
        toClient.connectTo(downstream);
        wire.join(toClient);
        if (firstFin != null) {
            watchHalfClosed();
        } else {
            armBy(now + silenceAllowedNanos()); // the deadline of the dial may be later
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
        resetChannel(downstream);
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
            armBy(now + lifespan.neededSilenceNanos(progress.seen(), now));
        }
        if (from == Side.DOWNSTREAM) {
            row.receivedBytes += count;
            if (firstByteNanos == AccessRecord.NONE && !answerDue && state == State.RELAYING) {
                awaitAnswer(now);
            }
        } else {
            row.sentBytes += delivered;
            if (firstByteNanos == AccessRecord.NONE) {
                firstByteNanos = worker.nowNanos() - acceptedNanos;
                onAnswered();
            }
        }
    }

    private void onAnswered() {
        answerDue = false;
        if (held != null) {
            worker.counters().endpoint(held.cell().slot()).answered++;
            frontend.backend().watch().onAnswered(held.cell());
        }
    }

    /** The client's first bytes are with the endpoint: it is to begin to answer. */
    private void awaitAnswer(long nowNanos) {
        long limit = frontend.backend().watch().firstByteNanos();
        if (limit != EndpointWatch.ANY_TIME) {
            answerDue = true;
            answerDueNanos = nowNanos + limit;
            armBy(answerDueNanos);
        }
    }

    /** It counts against the endpoint, once; the connection goes on. */
    private void lookForAnswer(long nowNanos) {
        if (answerDue && nowNanos - answerDueNanos >= 0) {
            blame(Failure.SILENT);
            answerDueNanos = nowNanos + Lifespan.NEVER;
        }
    }

    private void blame(Failure failure) {
        if (held != null) {
            worker.counters().endpoint(held.cell().slot()).countFailure(failure);
            frontend.backend().watch().onFailure(held.cell(), failure);
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
            leaveTold();
        } else {
            toEndpoint.end(); // what is queued still goes to the endpoint; onDrained goes on from there
        }
    }

    @Override
    public void onUnheeded() {
        long now = worker.nowNanos();
        lifespan.hurry(now);
        armBy(now);
    }

    @Override
    public void onPause(Side from, boolean paused) {
        if (paused) {
            worker.counters().countPaused(from);
            if (state == State.RELAYING) {
                // A blocked write shows no event while it moves within the kernel's limits: it must be looked at.
                armBy(worker.coarseNanos() + blockedLookNanos());
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
            armBy(worker.coarseNanos() + BLIND_LOOK_NANOS);
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
            case CLOSING -> {
                if (closing != Closing.FLUSHING && from == Side.DOWNSTREAM && toClient.finSent()) {
                    finish();
                }
            }
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
        Flow into = from == Side.DOWNSTREAM ? toClient : toEndpoint;
        return into.queuedBytes() != 0 && context.sockets().isDead(from == Side.DOWNSTREAM ? downstream : upstream);
    }

    private void watchHalfClosed() {
        armBy(progress.lastNanos() + frontend.timeouts().halfClosedNanos());
        if (context.sockets().missesResetWhenHalfClosed()) {
            armBy(progress.lastNanos() + BLIND_LOOK_NANOS);
        }
    }

    /** Whether one of its sockets may have been reset with no event telling of it. */
    private boolean blind() {
        return (firstFin != null && context.sockets().missesResetWhenHalfClosed())
                || ((toEndpoint.paused() || toEndpoint.holding() || toClient.paused())
                        && context.sockets().missesResetWhenPaused());
    }

    @Override
    public void onDrained(Flow flow) {
        assert worker.inLoop();
        if (state == State.CLOSING && closing != Closing.FLUSHING && flow == toClient) {
            sendLastFin();
        }
        if (state != State.RELAYING) {
            return;
        }
        if (over && flow == toEndpoint) {
            leaveTold();
            return;
        }
        Flow other = flow == toEndpoint ? toClient : toEndpoint;
        if (other.state() != Flow.State.SHUT) {
            flow.sendFin();
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
        // A close of ours fails what is queued, and tells of that before it returns: no news of the side that is
        // closed.
        if (closing == Closing.FLUSHING && side != closedBy) {
            finishReset();
        } else if (state == State.CLOSING
                && closing != Closing.FLUSHING
                && side == Side.DOWNSTREAM
                && !toClient.finSent()) {
            finish();
        } else if (state == State.RELAYING && reason == null && writeFailed == null) {
            writeFailed = side;
            writeFault = cause;
            progress.moved(worker.nowNanos());
            Flow into = side == Side.DOWNSTREAM ? toClient : toEndpoint;
            Flow outOf = side == Side.DOWNSTREAM ? toEndpoint : toClient;
            row.sentBytes += toClient.settle();
            into.stop();
            if (outOf.ended()) {
                onFault(side, writeFault("reset after its end"));
            } else {
                // What it had sent before is still to be read; its reset follows. If it does not, the deadline ends
                // this.
                outOf.readToTheEnd();
                armBy(progress.lastNanos() + FLUSH_NANOS);
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
            case CLOSING -> {
                boolean flushedSideGone = closing == Closing.FLUSHING && side != closedBy;
                if (flushedSideGone || (closing != Closing.FLUSHING && side == Side.DOWNSTREAM)) {
                    finish();
                }
            }
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
        if (why == CloseReason.ENDPOINT_RESET && firstByteNanos == AccessRecord.NONE && firstFin == null) {
            blame(Failure.RESET);
        }
        Channel dead = side == Side.DOWNSTREAM ? downstream : upstream;
        Flow into = side == Side.DOWNSTREAM ? toClient : toEndpoint;
        row.sentBytes += toClient.settle();
        into.stop();
        enter(State.CLOSING);
        closing = Closing.FLUSHING;
        // Should it live after all, it must not take this for a clean end.
        resetChannel(dead);
        long now = worker.nowNanos();
        progress.moved(now);
        progress.forgetDelivery();
        continueFlushing(now);
    }

    private void continueFlushing(long nowNanos) {
        Channel alive = closedBy == Side.DOWNSTREAM ? upstream : downstream;
        Flow outOf = closedBy == Side.DOWNSTREAM ? toEndpoint : toClient;
        // One number: it changes with what the process writes, and with what the kernel delivers.
        progress.lookAtDelivery(outOf.writeProgress() - context.sockets().undelivered(alive), nowNanos);
        boolean flushed = outOf.queuedBytes() == 0 && context.sockets().undelivered(alive) == 0;
        if (flushed || progress.silentNanos(nowNanos) >= FLUSH_NANOS) {
            finishReset();
        } else {
            arm(nowNanos + Deadlines.TICK_NANOS);
        }
    }

    private void finishReset() {
        row.sentBytes += toClient.settle();
        resetChannel(closedBy == Side.DOWNSTREAM ? upstream : downstream);
        finish();
    }

    private void checkSockets() {
        checkSocket(Side.DOWNSTREAM, downstream, toEndpoint, toClient);
        if (state == State.RELAYING) {
            checkSocket(Side.UPSTREAM, upstream, toClient, toEndpoint);
        }
    }

    private void checkSocket(Side side, Channel channel, Flow read, Flow written) {
        // A socket that has sent our FIN is dead as soon as its own has come: that is in order, and reading tells it.
        if (written.finSent() || !context.sockets().isDead(channel)) {
            return;
        }
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
            armBy(lifespan.nextNanos(now));
        }
    }

    /** It may end from now on: whoever knows its exchanges looks for the moment. */
    private void beginToRetire(long nowNanos) {
        if (wire.tracker() != null) {
            wire.tracker().retire();
        }
        if (state == State.DIALING || state == State.RELAYING) {
            armBy(nowNanos);
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
        armBy(lifespan.nextNanos(now));
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
        CloseReason retiring = reason != null ? reason : lifespan.reason(worker.nowNanos());
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
                toClient == null ? 0 : toClient.bytesDelivered(),
                generation);
    }

    /** When it comes to be retired by what is known now; null when it is so already, or nothing is going to. */
    private Long softNanos() {
        long now = worker.nowNanos();
        if (reason != null || lifespan.retiring(now)) {
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
        deadlineHandle = Deadlines.UNARMED;
        try {
            switch (state) {
                case DIALING -> onDeadlineWhileDialing(nowNanos);
                case RELAYING -> onDeadlineWhileRelaying(nowNanos);
                case CLOSING -> onDeadlineWhileClosing(nowNanos);
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
            arm(earlier(nowNanos + LATE_OPTIONS_NANOS, lifespan.nextNanos(nowNanos)));
        }
    }

    private void onDeadlineWhileRelaying(long nowNanos) {
        if (blind()) {
            checkSockets();
            if (state != State.RELAYING) {
                return;
            }
        }
        progress.lookAtWrites(toEndpoint.writeProgress() + toClient.writeProgress(), queued(), nowNanos);
        if (writeFailed != null && progress.silentNanos(nowNanos) >= FLUSH_NANOS) {
            onFault(writeFailed, writeFault("write failed, and no end followed"));
            return;
        }
        if (!lateOptionsSet) {
            lateOptionsSet = true;
            if (firstByteNanos == AccessRecord.NONE && !answerDue && writeFailed == null) {
                // Where the client speaks and never the endpoint, this is all the good there is to hear of it.
                frontend.backend().watch().onAnswered(held.cell());
            }
            context.sockets()
                    .setLateOptions(downstream, true, frontend.timeouts().unackedMillis());
            context.sockets()
                    .setLateOptions(upstream, false, frontend.timeouts().unackedMillis());
        }
        lookForAnswer(nowNanos);
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
        arm(nextLookNanos(nowNanos));
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
        if (answerDue) {
            next = earlier(next, answerDueNanos);
        }
        if (writeFailed != null) {
            next = earlier(next, progress.lastNanos() + FLUSH_NANOS);
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
                            + context.sockets().undelivered(upstream),
                    nowNanos);
        }
    }

    private boolean queued() {
        return toEndpoint.queuedBytes() != 0 || toClient.queuedBytes() != 0;
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
            how = wire.told() == null ? RetireHow.QUIET : wire.told();
            endGracefully(lifespan.reason(nowNanos));
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

    /** The client has been told, and its last exchange is over. */
    private void leaveTold() {
        how = wire.told() == null ? RetireHow.QUIET : wire.told();
        endGracefully(lifespan.reason(worker.nowNanos()));
    }

    /**
     * With nothing queued to the endpoint: FIN to both sides, to the client behind the last byte; the endpoint let go at
     * once, the client given time to read.
     */
    private void endGracefully(CloseReason why) {
        beginToClose(why, Closing.LINGERING);
        upstream.close();
        sayGoodbye(lifespan.limits().lingerNanos());
    }

    /** The hard limit, with a last word under way to the client: FIN behind it, and a reset soon after. */
    private void part(CloseReason why, RetireHow as) {
        how = as;
        cutMidExchange = as == RetireHow.CUT;
        beginToClose(why, Closing.PARTING);
        if (cutMidExchange) {
            resetChannel(upstream);
        } else {
            upstream.close();
        }
        sayGoodbye(PARTING_NANOS);
    }

    private void beginToClose(CloseReason why, Closing as) {
        end(why, null);
        row.sentBytes += toClient.settle();
        enter(State.CLOSING);
        closing = as;
        toEndpoint.discard();
    }

    private void sayGoodbye(long lingerNanos) {
        releaseEndpoint();
        lifespan.ended(reason, how);
        lingerUntilNanos = worker.nowNanos() + lingerNanos;
        arm(lingerUntilNanos);
        if (toClient.state() == Flow.State.SHUT) {
            sendLastFin();
        } else {
            toClient.end();
        }
    }

    /** All that the client is to get has left this process. */
    private void sendLastFin() {
        toClient.sendFin();
        if (toEndpoint.finRead()) {
            finish();
        }
    }

    private void onDeadlineWhileClosing(long nowNanos) {
        if (closing == Closing.FLUSHING) {
            continueFlushing(nowNanos);
            return;
        }
        if (closing == Closing.PARTING) {
            resetChannel(downstream);
            finish();
            return;
        }
        boolean unsent = toClient.queuedBytes() != 0;
        boolean draining = unsent || context.sockets().undelivered(downstream) > 0;
        if (draining && nowNanos - lingerUntilNanos < DRAINING_LINGER_NANOS) {
            arm(nowNanos + SECOND);
            return;
        }
        if (unsent) {
            resetChannel(downstream); // a FIN would make what it got look whole
        }
        finish();
    }

    /** The hard limit: a reset on both sides, in the middle of what it was doing. */
    private void cut(CloseReason why) {
        how = RetireHow.CUT;
        cutMidExchange = true;
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
        if (reason == null && (lifespan.marked() || why == CloseReason.SHUTDOWN || why == CloseReason.KILLED)) {
            how = RetireHow.CUT;
            cutMidExchange = true;
        }
        end(why, null);
        abortNow();
    }

    private void abortNow() {
        if (state == State.DIALING && dial != null) {
            dial.cancel();
        }
        if (toClient != null) {
            row.sentBytes += toClient.settle();
        }
        resetChannel(downstream);
        if (upstream != null) {
            resetChannel(upstream);
        }
        finish();
    }

    /** Closes with a reset instead of a FIN, whatever is queued. */
    private static void resetChannel(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }

    /** The first reason wins. Whoever leaves because it was told to, leaves for what it was told. */
    private void end(CloseReason why, Side by) {
        if (reason != null) {
            return;
        }
        boolean inOrder = why == CloseReason.CLIENT_CLOSED || why == CloseReason.ENDPOINT_CLOSED;
        CloseReason told = inOrder && wire.told() != null ? lifespan.reason(worker.nowNanos()) : null;
        if (told != null) {
            how = wire.told();
        }
        reason = told == null ? why : told;
        closedBy = by;
    }

    /** The one place where everything that the connection holds is given back. */
    private void finish() {
        if (state == State.CLOSED) {
            return;
        }
        if (toClient != null) {
            row.sentBytes += toClient.settle();
        }
        enter(State.CLOSED);
        disarm();
        toEndpoint.discard();
        if (toClient != null) {
            toClient.discard();
        }
        downstream.close();
        if (upstream != null) {
            upstream.close();
        }
        releaseEndpoint();
        lifespan.ended(reason, how);
        context.admission().leave(frontend);
        worker.leave(this);
        long duration = worker.nowNanos() - acceptedNanos;
        row.countClosed(reason);
        row.duration.add(duration);
        if (how != null) {
            row.countRetired(reason, how);
        }
        if (cutMidExchange) {
            row.cutMidExchange++;
        }
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
        record.firstByteNanos = firstByteNanos;
        record.durationNanos = duration;
        record.bytesReceived = toEndpoint.bytesRead();
        record.bytesSent = toClient == null ? 0 : toClient.bytesSettled();
        record.protocol = wire.protocol();
        record.requests = lifespan.requests();
        record.attempts = dial == null ? 0 : dial.attempts();
        record.closedBy = closedBy;
        record.reason = reason;
        record.how = how;
        record.cutMidExchange = cutMidExchange;
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

    /** Arms the deadline, if it is not armed for an earlier time already. */
    private void armBy(long whenNanos) {
        if (deadlineHandle == Deadlines.UNARMED || whenNanos - deadlineNanos < 0) {
            arm(whenNanos);
        }
    }

    private void arm(long whenNanos) {
        disarm();
        deadlineNanos = whenNanos;
        deadlineHandle = worker.deadlines().arm(whenNanos, this);
    }

    private void disarm() {
        if (deadlineHandle != Deadlines.UNARMED) {
            worker.deadlines().cancel(deadlineHandle);
            deadlineHandle = Deadlines.UNARMED;
        }
    }

    @Override
    public String toString() {
        return worker.index() + "-" + sequence;
    }
}
