package dev.tidegate.dial;

import dev.tidegate.lifetime.Deadlines;
import dev.tidegate.lifetime.Expirable;
import dev.tidegate.model.Backend;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Failure;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Picker;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.Tried;
import dev.tidegate.telemetry.EndpointRow;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * One connection's way to an endpoint: pick, connect, and on failure another endpoint, until one answers, the attempts or
 * the deadline are spent, or the client has gone. No byte of the client has been sent yet, so nothing is retried that an
 * endpoint could have seen.
 *
 * <pre>
 *   start -> ATTEMPTING --connected--> DONE
 *               |   ^
 *        failed v   | back-off over
 *             PAUSING ----deadline----> DONE
 * </pre>
 *
 * <p>An attempt that takes too long is closed, never left half-open. The endpoint's count is taken when it is picked, so
 * that connects under way are load, and a limit is never passed.
 *
 * <p>Confined to its worker's loop.
 */
public final class Dial implements Expirable, ChannelFutureListener {
    private enum State {
        ATTEMPTING,
        PAUSING,
        DONE
    }

    private final Dialer dialer;
    private final Backend backend;
    private final DialOutcome outcome;
    private final InetSocketAddress client;
    private final InetSocketAddress local;
    private final long startNanos;
    private State state = State.PAUSING;
    private Tried tried = Tried.NOTHING;
    private List<InetSocketAddress> triedAddresses = List.of();
    private Endpoint endpoint;
    private InetSocketAddress address;
    private Channel channel;
    private long attemptNanos;
    private long deadlineHandle = Deadlines.UNARMED;
    private int attempts;
    private int trial = Fitness.TRIAL_NOT_NEEDED;
    private boolean wholeTimeout; // the attempt has all of connect.timeout
    private CloseReason lastReason = CloseReason.NO_ENDPOINT;
    private Throwable lastCause;
    private boolean clientEnded;
    private boolean clientSpoke;

    /**
     * @param dialer what the worker's dials share
     * @param backend whose endpoints to try
     * @param outcome what is told
     * @param client the client's address, for a PROXY header
     * @param local the address the client connected to, for a PROXY header
     */
    public Dial(
            Dialer dialer, Backend backend, DialOutcome outcome, InetSocketAddress client, InetSocketAddress local) {
        this.dialer = dialer;
        this.backend = backend;
        this.outcome = outcome;
        this.client = client;
        this.local = local;
        this.startNanos = dialer.ticker().nanoTime();
    }

    /** Begins. May call the outcome before it returns. */
    public void start() {
        backend.retries().onConnection(startNanos);
        attempt();
    }

    /** What the last attempt met; null when it took too long. */
    public Throwable lastCause() {
        return lastCause;
    }

    /** Attempts made. */
    public int attempts() {
        return attempts;
    }

    /** The endpoint tried last, or connected; null when none was picked. */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** The address tried last, or connected; null when none was. */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * The client has ended its direction: perhaps it waits for an answer, perhaps it has gone. An attempt under way may
     * complete; a new one is made only for a client that has sent something, and not after a time-out.
     */
    public void onClientEnded(boolean spoke) {
        clientEnded = true;
        clientSpoke = spoke;
        if (state == State.PAUSING && !mayTryForEndedClient(ConnectResult.REFUSED)) {
            fail(CloseReason.CLIENT_CLOSED);
        }
    }

    private boolean mayTryForEndedClient(ConnectResult last) {
        return !clientEnded || (clientSpoke && last != ConnectResult.TIMEOUT);
    }

    /** Gives up without a word to the outcome. */
    public void cancel() {
        if (state == State.DONE) {
            return;
        }
        boolean attempting = state == State.ATTEMPTING;
        finish();
        if (attempting) {
            abandonAttempt(ConnectResult.CANCELLED);
        }
    }

    private void attempt() {
        Endpoint picked = pickAndAcquire();
        if (picked == null) {
            fail(attempts == 0 ? CloseReason.NO_ENDPOINT : lastReason);
            return;
        }
        endpoint = picked;
        address = picked.cell().nextAddress(triedAddresses);
        attempts++;
        if (attempts > 1) {
            dialer.counters().backend(backend.slot()).retries++;
        }
        dialer.counters().endpoint(picked.cell().slot()).picks++;
        attemptNanos = dialer.ticker().nanoTime();
        state = State.ATTEMPTING;
        long left = deadlineNanos() - attemptNanos;
        wholeTimeout = left >= backend.connect().timeoutNanos();
        long timeout = wholeTimeout ? backend.connect().timeoutNanos() : left;
        deadlineHandle = dialer.deadlines().arm(attemptNanos + timeout, this);
        try {
            channel = dialer.opener().open(address, outcome.nextHandler());
            dialer.loop().register(channel);
            channel.connect(address).addListener(this);
        } catch (RuntimeException noSocket) {
            // No descriptor, most often. That is not the endpoint's fault, nor would another endpoint fare better.
            lastCause = noSocket;
            abandonAttempt(ConnectResult.CANCELLED);
            fail(CloseReason.DIAL_FAILED);
        }
    }

    private Endpoint pickAndAcquire() {
        ConnectPolicy policy = backend.connect();
        boolean cleared = tried.isEmpty();
        while (true) {
            int index = backend.picker().pick(backend.endpoints(), tried, dialer.random());
            if (index == Picker.NONE) {
                if (cleared) {
                    return null;
                }
                // All candidates were tried: begin again with all of them.
                tried.clear();
                cleared = true;
                continue;
            }
            Endpoint picked = backend.endpoints().at(index);
            boolean acquired = picked.tryAcquire() && hasTrial(picked);
            if (policy.attempts() > 1) {
                if (tried == Tried.NOTHING) {
                    tried = new Tried();
                }
                if (acquired) {
                    tried.add(index);
                }
            }
            if (acquired) {
                return picked;
            }
            // It filled up between the look and the count; the next look sees it full.
        }
    }

    /** While its breaker is half open an endpoint is tried by few at a time; who finds no place looks again. */
    private boolean hasTrial(Endpoint picked) {
        trial = backend.endpoints().spreading()
                ? Fitness.TRIAL_NOT_NEEDED
                : picked.cell().fitness().tryTrial();
        if (trial == Fitness.TRIAL_REFUSED) {
            trial = Fitness.TRIAL_NOT_NEEDED;
            picked.cell().release();
            return false;
        }
        return true;
    }

    @Override
    public void operationComplete(ChannelFuture connect) {
        if (state != State.ATTEMPTING || connect.channel() != channel) {
            return; // an attempt given up meanwhile
        }
        if (connect.isSuccess()) {
            connected();
        } else {
            lastCause = connect.cause();
            closeAttempt();
            attemptFailed(DialFault.of(lastCause));
        }
    }

    private void connected() {
        Channel upstream = channel;
        var row = dialer.counters().endpoint(endpoint.cell().slot());
        row.countConnect(ConnectResult.OK);
        row.connectDuration.add(dialer.ticker().nanoTime() - attemptNanos);
        backend.watch().onConnected(endpoint.cell());
        endTrial();
        finish();
        if (backend.connect().proxyProtocol() != ProxyProtocol.OFF) {
            ProxyHeader.write(upstream, backend.connect().proxyProtocol(), client, local);
        }
        outcome.onConnected(upstream);
    }

    /** The attempt's time-out, the end of a pause, or the deadline of all. */
    @Override
    public void onDeadline(long nowNanos) {
        deadlineHandle = Deadlines.UNARMED;
        switch (state) {
            case ATTEMPTING -> {
                closeAttempt();
                attemptFailed(ConnectResult.TIMEOUT);
            }
            case PAUSING -> {
                if (nowNanos - deadlineNanos() >= 0) {
                    fail(lastReason); // the loop was held up, and all the time is gone
                } else {
                    attempt();
                }
            }
            case DONE -> throw new IllegalStateException("a deadline outlived its dial");
        }
    }

    private void attemptFailed(ConnectResult result) {
        disarm();
        noteTried(address);
        lastReason = DialFault.reason(result);
        var row = dialer.counters().endpoint(endpoint.cell().slot());
        row.countConnect(result);
        blame(row, result);
        endpoint.cell().release();
        state = State.PAUSING;
        if (!mayTryForEndedClient(result)) {
            fail(CloseReason.CLIENT_CLOSED);
            return;
        }
        long now = dialer.ticker().nanoTime();
        long pause = result == ConnectResult.TIMEOUT ? 0 : Backoff.nanos(attempts, allTried(), dialer.random());
        if (attempts >= backend.connect().attempts() || now + pause - deadlineNanos() >= 0) {
            fail(lastReason);
        } else if (!backend.retries().tryRetry(now)) {
            dialer.counters().backend(backend.slot()).budgetExhausted++;
            fail(lastReason);
        } else if (pause == 0) {
            attempt();
        } else {
            deadlineHandle = dialer.deadlines().arm(now + pause, this);
        }
    }

    /** A time-out cut short by the deadline of all says nothing against the endpoint. */
    private void blame(EndpointRow row, ConnectResult result) {
        Failure failure = result == ConnectResult.TIMEOUT && !wholeTimeout ? null : DialFault.blame(result, lastCause);
        if (failure == null) {
            endTrial();
        } else {
            if (backend.watch().opensBreakers()) {
                trial = Fitness.TRIAL_NOT_NEEDED; // it stays taken until the breaker's next word
            } else {
                endTrial(); // this dial began before there were breakers
            }
            row.countFailure(failure);
            backend.watch().onFailure(endpoint.cell(), failure);
        }
    }

    private void endTrial() {
        if (trial != Fitness.TRIAL_NOT_NEEDED) {
            endpoint.cell().fitness().endTrial(trial);
            trial = Fitness.TRIAL_NOT_NEEDED;
        }
    }

    private void noteTried(InetSocketAddress failed) {
        if (triedAddresses.isEmpty()) {
            triedAddresses = new ArrayList<>(backend.connect().attempts());
        }
        triedAddresses.add(failed);
    }

    private boolean allTried() {
        for (int i = 0; i < backend.endpoints().size(); i++) {
            if (backend.endpoints().candidate(i) && !tried.contains(i)) {
                return false;
            }
        }
        return true;
    }

    private long deadlineNanos() {
        return startNanos + backend.connect().deadlineNanos();
    }

    private void abandonAttempt(ConnectResult result) {
        closeAttempt();
        dialer.counters().endpoint(endpoint.cell().slot()).countConnect(result);
        endTrial();
        endpoint.cell().release();
    }

    private void closeAttempt() {
        Channel abandoned = channel;
        channel = null;
        if (abandoned != null) {
            abandoned.close();
        }
    }

    private void fail(CloseReason reason) {
        finish();
        outcome.onDialFailed(reason);
    }

    private void finish() {
        state = State.DONE;
        disarm();
    }

    private void disarm() {
        if (deadlineHandle != Deadlines.UNARMED) {
            dialer.deadlines().cancel(deadlineHandle);
            deadlineHandle = Deadlines.UNARMED;
        }
    }
}
