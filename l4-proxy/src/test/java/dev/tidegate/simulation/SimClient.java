package dev.tidegate.simulation;

import dev.tidegate.simulation.Temper.Manner;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** A client's connection in a simulated network: asks, checks each answer, thinks, asks again, and ends in one way or another. */
abstract class SimClient implements SimPeer {
    private static final long LONGEST_THOUGHT = TimeUnit.MILLISECONDS.toNanos(400);
    private static final long LONGEST_DAWDLE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LATEST_RUDENESS = TimeUnit.SECONDS.toNanos(3);
    private static final int LARGEST_ANSWER = 12_000;

    /** How it came out. */
    enum Fate {
        UNDER_WAY,
        REFUSED,
        /** It went without a word. */
        LEFT,
        /** It ended, or was ended, with nothing owed that had come to the balancer. */
        WELL,
        /** It was ended with an answer begun. */
        TRUNCATED,
        /** It was ended with a request that had come to the balancer, and no answer. */
        UNANSWERED,
        RESET
    }

    private final Crowd crowd;
    private final SimNetwork network;
    private final RandomGenerator random;
    private final int id;
    private final Temper temper;
    private final Transcript transcript = new Transcript();
    private int left;
    private Link link;
    private InetSocketAddress from;
    private Fate fate = Fate.UNDER_WAY;
    private int asked;
    private long silentNanos;
    private boolean ended; // its own direction

    SimClient(Crowd crowd, SimNetwork network, RandomGenerator random, int id, Temper temper) {
        this.crowd = crowd;
        this.network = network;
        this.random = random;
        this.id = id;
        this.temper = temper;
        this.left = temper.requests();
    }

    // ---- what it says, which depends on what it speaks

    abstract Speech speech();

    /** Says what comes before the first request. */
    abstract void greet();

    /** Whether it may ask now. */
    abstract boolean canAsk();

    /** Asks for so many bytes. */
    abstract void ask(int number, int answerBytes);

    abstract void understand(byte[] bytes);

    /** Requests that are not answered whole, and that it may not ask again elsewhere. */
    abstract boolean isOwed();

    /** Whether one of the answers owed has begun. */
    abstract boolean isBegun();

    /** When the first byte of the oldest request that is owed came to the balancer. */
    abstract long owedSinceNanos();

    // ---- how it came out

    /** Where it came from, as the balancer sees it; null until it has connected. */
    InetSocketAddress from() {
        return from;
    }

    int id() {
        return id;
    }

    Fate fate() {
        return fate;
    }

    Temper temper() {
        return temper;
    }

    Transcript transcript() {
        return transcript;
    }

    /** Whether it has heard, in its own protocol, that the connection ends. */
    boolean isTold() {
        return false;
    }

    /** The last request (of HTTP/2: stream) that was looked at, by what it has heard; {@link Integer#MAX_VALUE}: any was. */
    int lastLookedAt() {
        return Integer.MAX_VALUE;
    }

    /** How long the balancer had heard nothing and said nothing when it ended the connection; 0: it did not, or by a reset. */
    final long silentBeforeEndNanos() {
        return silentNanos;
    }

    // ---- its life

    void onRefused() {
        fate = Fate.REFUSED;
    }

    void onConnected(Link own, InetSocketAddress address) {
        link = own;
        from = address;
        if (temper.manner() == Manner.RUDE) {
            network.in(random.nextLong(LATEST_RUDENESS), this::leave);
        }
        greet();
        think();
    }

    private void leave() {
        if (!ended) {
            ended = true;
            fate = Fate.LEFT;
            link.reset();
        }
    }

    final void think() {
        network.in(random.nextLong(LONGEST_THOUGHT), this::askNext);
    }

    private void askNext() {
        if (ended || !canAsk()) {
            return;
        }
        if (left == 0) {
            if (!isOwed()) {
                end();
            }
            return;
        }
        if (temper.manner() != Manner.LASTING) {
            left--;
        }
        asked++;
        ask(asked, random.nextInt(random.nextBoolean() ? 200 : LARGEST_ANSWER));
        if (left == 0 && temper.manner() == Manner.HASTY) {
            end();
        } else if (temper.eager() && left > 0) {
            think();
        }
    }

    /** All that was asked is answered: goes on. */
    final void goOn() {
        if (!ended) {
            think();
        }
    }

    /** Ends its direction. */
    final void end() {
        if (!ended) {
            ended = true;
            link.fin();
        }
    }

    final boolean hasEnded() {
        return ended;
    }

    /** It was sent away, and so many of its requests were not looked at: it makes them, and what is left, elsewhere. */
    final void comeAgain(int unheard) {
        int requests = left + unheard;
        if (requests > 0 && temper.manner() != Manner.RUDE) {
            left = 0;
            crowd.again(speech(), temper.left(requests));
        }
    }

    final void send(byte[] bytes) {
        sendReturningArrival(bytes);
    }

    /** In one piece or in two. Answers when the first byte comes to the balancer. */
    final long sendReturningArrival(byte[] bytes) {
        if (ended) {
            return Long.MAX_VALUE;
        }
        transcript.clientSent(bytes);
        if (bytes.length > 1 && random.nextInt(4) == 0) {
            int cut = 1 + random.nextInt(bytes.length - 1);
            long first = link.send(Arrays.copyOf(bytes, cut));
            link.send(Arrays.copyOfRange(bytes, cut, bytes.length));
            return first;
        }
        return link.send(bytes);
    }

    final RandomGenerator random() {
        return random;
    }

    final long now() {
        return network.now();
    }

    final void in(long nanos, Runnable what) {
        network.in(nanos, what);
    }

    @Override
    public final void onBytes(Link on, byte[] bytes) {
        if (temper.slow()) {
            network.in(random.nextLong(LONGEST_DAWDLE), () -> on.taken(bytes.length));
        } else {
            on.taken(bytes.length);
        }
        transcript.clientGot(bytes);
        understand(bytes);
    }

    @Override
    public final void onFin(Link on) {
        silentNanos = on.silentBeforeEndNanos();
        if (fate == Fate.UNDER_WAY) {
            fate = fateAtFin(on);
        }
        if (!ended) {
            end();
            if (!isTold()) {
                comeAgain(0);
            }
        }
    }

    private Fate fateAtFin(Link on) {
        if (!isOwed()) {
            return Fate.WELL;
        }
        if (isBegun()) {
            return Fate.TRUNCATED;
        }
        // What came when the end had been said, or in the same moment, nobody can answer.
        return owedSinceNanos() < on.balancerEndedNanos() ? Fate.UNANSWERED : Fate.WELL;
    }

    @Override
    public final void onReset(Link on) {
        if (fate == Fate.UNDER_WAY) {
            fate = Fate.RESET;
        }
        ended = true;
    }

    @Override
    public String toString() {
        return "client " + id + " " + speech() + " " + temper + " from " + from + ": " + fate + ", " + asked + " asked";
    }
}
