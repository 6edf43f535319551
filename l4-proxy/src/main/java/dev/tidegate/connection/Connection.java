package dev.tidegate.connection;

import dev.tidegate.dial.Dial;
import dev.tidegate.dial.DialOutcome;
import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Expirable;
import dev.tidegate.lifetime.Quiet;
import dev.tidegate.lifetime.Retirement;
import dev.tidegate.model.BornRetiring;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import dev.tidegate.model.Side;
import dev.tidegate.relay.Flow;
import dev.tidegate.relay.FlowHandler;
import dev.tidegate.relay.FlowOwner;
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
 * Retiring is a mark with a deadline, not a state: a retiring connection goes on working. In CLOSING it either flushes to
 * one side what the other had sent before its reset, or lingers for the client to read the last bytes.
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
    /** How long the client may take to read the last bytes after our FIN. */
    private static final long LINGER_NANOS = 2 * SECOND;
    /** The same, while bytes still drain to it. */
    private static final long DRAINING_LINGER_NANOS = 30 * SECOND;
    /** The silence after which an end hurts nobody, when nothing is owed. */
    private static final long QUIET_NANOS = 5 * SECOND;
    /** A reset that no event tells of is found within this. */
    private static final long BLIND_LOOK_NANOS = SECOND;
    /** A blocked write is looked at this many times within the time that silence may last. */
    private static final int LOOKS_AT_BLOCKED = 16;

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
        LINGERING
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
    private Side lastSpoke;
    private long exchanges;
    private long connectNanos = AccessRecord.NONE;
    private long firstByteNanos = AccessRecord.NONE;
    private boolean lateOptionsSet;
    private Side firstFin;
    private Side writeFailed;
    private Throwable writeFault;

    private long deadlineHandle = Deadlines.UNARMED;
    private long deadlineNanos;

    private Retirement retirement; // null while nobody wants it to end

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
        this.row = worker.counters().frontend(frontend.cell().slot());
        this.client = (InetSocketAddress) downstream.remoteAddress();
        this.local = (InetSocketAddress) downstream.localAddress();
        this.downstreamHandler = new FlowHandler(Side.DOWNSTREAM, this);
        this.toEndpoint = new Flow(Side.DOWNSTREAM, downstream, this);
        downstreamHandler.join(toEndpoint, null);
    }

    /** Begins: reads from the client, and dials. */
    void start() {
        assert worker.inLoop();
        worker.settle(this);
        enter(State.DIALING);
        arm(acceptedNanos + LATE_OPTIONS_NANOS);
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
        try {
            join(channel);
        } catch (RuntimeException fault) {
            context.floods().count(FloodLog.Kind.INTERNAL_ERROR, "connection of frontend " + frontend.name(), fault);
            abort(CloseReason.INTERNAL_ERROR);
        }
    }

    private void join(Channel channel) {
        if (retirement != null) {
            retirement.arriveAt(held.cell()); // the endpoint tried before is to be left, perhaps this one is not
        }
        long now = worker.nowNanos();
        connectNanos = now - acceptedNanos;
        progress.moved(now);
        enter(State.RELAYING);
        toClient = new Flow(Side.UPSTREAM, channel, this);
        toClient.connectTo(downstream);
        if (firstFin != null) {
            watchHalfClosed();
        } else {
            armBy(now + silenceAllowedNanos()); // the deadline of the dial may be later
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
        progress.moved(worker.coarseNanos());
        if (from == Side.DOWNSTREAM) {
            if (lastSpoke != Side.DOWNSTREAM) {
                exchanges++;
            }
            row.receivedBytes += count;
        } else {
            row.sentBytes += delivered;
            if (firstByteNanos == AccessRecord.NONE) {
                firstByteNanos = worker.nowNanos() - acceptedNanos;
            }
        }
        lastSpoke = from;
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
        if (paused && context.sockets().missesResetWhenPaused() && state == State.RELAYING) {
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
                if (closing == Closing.LINGERING && from == Side.DOWNSTREAM) {
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
                || ((toEndpoint.paused() || toClient.paused())
                        && context.sockets().missesResetWhenPaused());
    }

    @Override
    public void onDrained(Flow flow) {
        assert worker.inLoop();
        if (state != State.RELAYING) {
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
                if (flushedSideGone || (closing == Closing.LINGERING && side == Side.DOWNSTREAM)) {
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
        if (read.paused() && !read.ended()) {
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
        if (retirement == null) {
            retirement = new Retirement();
        }
        long now = worker.nowNanos();
        retirement.add(order, startNanos, hardNanos, now);
        armBy(later(now, earlier(startNanos, hardNanos)));
    }

    @Override
    public void stay(RetireOrder order) {
        assert worker.inLoop();
        if (retirement != null && (state == State.DIALING || state == State.RELAYING)) {
            retirement.remove(order);
            dropRetirementIfOver();
        }
    }

    private void dropRetirementIfOver() {
        if (retirement.isEmpty()) {
            retirement = null;
        }
    }

    @Override
    public boolean under(RetireOrder order) {
        return retirement != null && retirement.has(order);
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
        CloseReason retiring = reason != null || retirement == null ? reason : retirement.reason(worker.nowNanos());
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
                retiring == null ? null : retiring.word(),
                acceptedNanos,
                progress.lastNanos(),
                exchanges,
                toEndpoint.bytesRead(),
                toClient == null ? 0 : toClient.bytesDelivered(),
                generation);
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
        if (retirement != null && nowNanos - retirement.hardNanos() >= 0) {
            cut(retirement.reason(nowNanos));
        } else if (nowNanos - lastCall >= 0) {
            throw new IllegalStateException("the dial is neither done nor has it failed");
        } else {
            long next = nowNanos + LATE_OPTIONS_NANOS;
            arm(retirement == null ? next : earlier(next, retirement.hardNanos()));
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
            context.sockets()
                    .setLateOptions(downstream, true, frontend.timeouts().unackedMillis());
            context.sockets()
                    .setLateOptions(upstream, false, frontend.timeouts().unackedMillis());
        }
        if (retirement != null && endedByRetirement(nowNanos)) {
            return;
        }
        noteDelivery(nowNanos);
        if (progress.silentNanos(nowNanos) >= silenceAllowedNanos()) {
            endBySilence();
            return;
        }
        arm(nextLookNanos(nowNanos));
    }

    private long nextLookNanos(long nowNanos) {
        long next = progress.lastNanos() + silenceAllowedNanos() / 2;
        if (nowNanos - next >= 0) {
            next = earlier(progress.lastNanos() + silenceAllowedNanos(), nowNanos + silenceAllowedNanos() / 4);
        }
        if (queued()) {
            next = earlier(next, nowNanos + blockedLookNanos());
        }
        if (blind()) {
            next = earlier(next, nowNanos + BLIND_LOOK_NANOS);
        }
        if (writeFailed != null) {
            next = earlier(next, progress.lastNanos() + FLUSH_NANOS);
        }
        if (retirement != null) {
            if (retirement.begun(nowNanos)) {
                // The silence needed shrinks with what remains, so it is asked again in steps.
                next = earlier(next, nowNanos + Math.max(Deadlines.TICK_NANOS, neededSilenceNanos(nowNanos) / 8));
            } else {
                next = earlier(next, retirement.startNanos());
            }
            next = earlier(next, retirement.hardNanos());
        }
        return next;
    }

    private static long later(long a, long b) {
        return a - b >= 0 ? a : b;
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
        } else if (queued()) {
            cutWithoutRetirement(CloseReason.IDLE);
        } else {
            endGracefully(CloseReason.IDLE);
        }
    }

    private boolean endedByRetirement(long nowNanos) {
        if (!retirement.begun(nowNanos)) {
            return false;
        }
        CloseReason why = retirement.reason(nowNanos);
        boolean hard = nowNanos - retirement.hardNanos() >= 0;
        // At the hard limit nothing presses any more: whoever spoke a moment ago is in the middle of something.
        long needed = hard ? QUIET_NANOS : neededSilenceNanos(nowNanos);
        boolean silent = progress.silentNanos(nowNanos) >= needed;
        if (silent && !queued() && firstFin == null) {
            how = RetireHow.QUIET;
            endGracefully(why);
            return true;
        }
        if (hard) {
            cut(why);
            return true;
        }
        return false;
    }

    private long neededSilenceNanos(long nowNanos) {
        boolean owed = lastSpoke == Side.DOWNSTREAM;
        if (!retirement.limited()) {
            return Quiet.neededNanosUnlimited(owed, QUIET_NANOS);
        }
        long grace = Math.max(0, retirement.hardNanos() - retirement.startNanos());
        long quiet = Math.min(QUIET_NANOS, Math.max(retirement.windowNanos() / 4, Deadlines.TICK_NANOS));
        return Quiet.neededNanos(owed, quiet, grace, Math.max(0, retirement.hardNanos() - nowNanos));
    }

    // ---- ends

    /** With nothing queued: FIN to both sides, the endpoint let go at once, the client given time to read. */
    private void endGracefully(CloseReason why) {
        end(why, null);
        row.sentBytes += toClient.settle();
        enter(State.CLOSING);
        closing = Closing.LINGERING;
        toEndpoint.discard();
        toClient.stop();
        upstream.close();
        releaseEndpoint();
        leaveOrders();
        toClient.sendFin();
        long now = worker.nowNanos();
        lingerUntilNanos = now + LINGER_NANOS;
        arm(lingerUntilNanos);
    }

    private void onDeadlineWhileClosing(long nowNanos) {
        if (closing == Closing.FLUSHING) {
            continueFlushing(nowNanos);
            return;
        }
        boolean draining = context.sockets().undelivered(downstream) > 0;
        if (draining && nowNanos - lingerUntilNanos < DRAINING_LINGER_NANOS - LINGER_NANOS) {
            arm(nowNanos + SECOND);
        } else {
            finish();
        }
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
        if (reason == null && (retirement != null || why == CloseReason.SHUTDOWN || why == CloseReason.KILLED)) {
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

    /** The first reason wins. */
    private void end(CloseReason why, Side by) {
        if (reason == null) {
            reason = why;
            closedBy = by;
        }
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
        leaveOrders();
        context.admission().leave(frontend);
        worker.leave(this);
        long duration = worker.nowNanos() - acceptedNanos;
        row.countClosed(reason);
        row.duration.add(duration);
        if (how != null) {
            row.countRetired(reason, how);
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

    private void leaveOrders() {
        if (retirement != null) {
            retirement.ended(reason, how);
            retirement = null;
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
