package dev.tidegate.simulation;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** A client in a simulated network: asks, checks each byte of the answer, thinks, asks again, and ends in one way or another. */
final class SimClient implements SimPeer {
    private static final long LONGEST_THOUGHT = TimeUnit.MILLISECONDS.toNanos(400);
    private static final long LONGEST_DAWDLE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int LARGEST_ANSWER = 20_000;

    /** How it ends. */
    enum Manner {
        /** After its last answer. */
        POLITE,
        /** It ends its side with the last request, and reads on. */
        HASTY,
        /** It stays until it is sent away. */
        LASTING,
        /** It goes without a word, at any time. */
        RUDE
    }

    /** How it came out. */
    enum Fate {
        UNDER_WAY,
        REFUSED,
        /** It ended, or was ended, between two exchanges. */
        WELL,
        /** It was ended with an answer begun. */
        TRUNCATED,
        /** It was ended with a request that had been on its way for a while, and no answer. */
        UNANSWERED,
        RESET
    }

    private final SimNetwork network;
    private final RandomGenerator random;
    private final int id;
    private final Manner manner;
    private final boolean slow;
    private int left;
    private Link link;
    private InetSocketAddress from;
    private Fate fate = Fate.UNDER_WAY;
    private int number;
    private int wanted; // of the answer under way; 0: none is
    private int got;
    private long askedNanos;
    private boolean ended;
    private String fault = "";

    SimClient(SimNetwork network, RandomGenerator random, int id) {
        this.network = network;
        this.random = random;
        this.id = id;
        this.manner = Manner.values()[random.nextInt(Manner.values().length)];
        this.slow = random.nextInt(4) == 0;
        this.left = 1 + random.nextInt(8);
    }

    /** Where it came from, as the balancer sees it; null until it has connected. */
    InetSocketAddress from() {
        return from;
    }

    Fate fate() {
        return fate;
    }

    Manner manner() {
        return manner;
    }

    /** What it got that was not asked for; empty: nothing. */
    String fault() {
        return fault;
    }

    void onRefused() {
        fate = Fate.REFUSED;
    }

    void onConnected(Link own, InetSocketAddress address) {
        link = own;
        from = address;
        if (manner == Manner.RUDE) {
            network.in(random.nextLong(TimeUnit.SECONDS.toNanos(3)), this::leave);
        }
        think();
    }

    private void leave() {
        if (!ended) {
            ended = true;
            fate = Fate.WELL;
            link.reset();
        }
    }

    private void think() {
        network.in(random.nextLong(LONGEST_THOUGHT), this::ask);
    }

    private void ask() {
        if (ended) {
            return;
        }
        if (left == 0) {
            ended = true;
            link.fin();
            return;
        }
        if (manner != Manner.LASTING) {
            left--;
        }
        number++;
        wanted = 1 + random.nextInt(random.nextBoolean() ? 200 : LARGEST_ANSWER);
        got = 0;
        askedNanos = network.now();
        link.send(Talk.request(id, number, wanted));
        if (left == 0 && manner == Manner.HASTY) {
            ended = true;
            link.fin();
        }
    }

    @Override
    public void onBytes(Link on, byte[] bytes) {
        if (slow) {
            network.in(random.nextLong(LONGEST_DAWDLE), () -> on.taken(bytes.length));
        } else {
            on.taken(bytes.length);
        }
        for (byte each : bytes) {
            if (got == wanted || each != Talk.answerByte(id, number, got)) {
                fault = "byte " + got + " of " + wanted + " of answer " + number + " is not what was sent";
            }
            got++;
        }
        if (got == wanted) {
            wanted = 0;
            got = 0;
            if (!ended) {
                think();
            }
        }
    }

    @Override
    public void onFin(Link on) {
        if (fate == Fate.UNDER_WAY) {
            boolean longAgo = network.now() - askedNanos > TimeUnit.MILLISECONDS.toNanos(10);
            fate = wanted == 0 || (got == 0 && !longAgo) ? Fate.WELL : got > 0 ? Fate.TRUNCATED : Fate.UNANSWERED;
        }
        if (!ended) {
            ended = true;
            on.fin();
        }
    }

    @Override
    public void onReset(Link on) {
        if (fate == Fate.UNDER_WAY) {
            fate = Fate.RESET;
        }
        ended = true;
    }

    @Override
    public String toString() {
        return "client " + id + " " + manner + " from " + from + ": " + fate + ", request " + number + ", " + got
                + " of " + wanted;
    }
}
