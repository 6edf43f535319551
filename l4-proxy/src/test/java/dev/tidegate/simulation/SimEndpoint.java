package dev.tidegate.simulation;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** An endpoint in a simulated network: answers requests after a while, piece by piece, and has faults. */
final class SimEndpoint implements SimPeer {
    private static final int PIECE_BYTES = 4_000;
    private static final long LONGEST_THOUGHT = TimeUnit.MILLISECONDS.toNanos(600);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(30);

    /** How it fares. */
    enum Mood {
        /** It answers. */
        WELL,
        /** Its process is gone: connections are refused, those it had were reset. */
        DEAD,
        /** Its machine is gone: nothing comes back from it. */
        UNREACHABLE,
        /** It accepts, and says nothing. */
        MUTE,
        /** It accepts, and resets at the first byte. */
        CURT
    }

    /** One connection. */
    private static final class Served {
        final ByteBuffer request = ByteBuffer.allocate(Talk.REQUEST_BYTES);
        int owed; // answers
        boolean ended; // by the other side
    }

    private final SimNetwork network;
    private final RandomGenerator random;
    private final InetSocketAddress address;
    private final Map<Link, Served> links = new LinkedHashMap<>();
    private Mood mood = Mood.WELL;
    private long lastFault = Long.MIN_VALUE / 2;

    SimEndpoint(SimNetwork network, RandomGenerator random, InetSocketAddress address) {
        this.network = network;
        this.random = random;
        this.address = address;
    }

    InetSocketAddress address() {
        return address;
    }

    void become(Mood next) {
        lastFault = network.now();
        mood = next;
        if (next == Mood.DEAD) {
            List<Link> all = List.copyOf(links.keySet());
            links.clear();
            all.forEach(Link::reset);
        }
    }

    /** Whether it has been well at all times since then. */
    boolean wellSince(long nanos) {
        return mood == Mood.WELL && lastFault < nanos;
    }

    boolean refuses() {
        return mood == Mood.DEAD;
    }

    boolean swallows() {
        return mood == Mood.UNREACHABLE;
    }

    void onConnected(Link link) {
        links.put(link, new Served());
    }

    @Override
    public void onBytes(Link link, byte[] bytes) {
        link.taken(bytes.length);
        Served served = links.get(link);
        if (served == null || mood == Mood.MUTE || mood == Mood.UNREACHABLE) {
            return;
        }
        if (mood == Mood.CURT) {
            links.remove(link);
            link.reset();
            return;
        }
        for (byte each : bytes) {
            served.request.put(each);
            if (!served.request.hasRemaining()) {
                ByteBuffer request = served.request.flip().position(1);
                int client = request.getInt();
                int number = request.getInt();
                int count = request.getInt();
                served.request.clear();
                served.owed++;
                network.in(random.nextLong(LONGEST_THOUGHT), () -> answer(link, client, number, 0, count));
            }
        }
    }

    private void answer(Link link, int client, int number, int from, int count) {
        Served served = links.get(link);
        if (served == null || mood == Mood.MUTE || mood == Mood.UNREACHABLE) {
            return;
        }
        int piece = Math.min(PIECE_BYTES, count - from);
        link.send(Talk.answer(client, number, from, piece));
        if (from + piece < count) {
            network.in(random.nextLong(LONGEST_PAUSE), () -> answer(link, client, number, from + piece, count));
        } else {
            served.owed--;
            endIfDone(link, served);
        }
    }

    @Override
    public void onFin(Link link) {
        Served served = links.get(link);
        if (served != null) {
            served.ended = true;
            endIfDone(link, served);
        }
    }

    /** Whoever has ended its side still gets what it asked for before. */
    private void endIfDone(Link link, Served served) {
        if (served.ended && served.owed == 0) {
            links.remove(link);
            link.fin();
        }
    }

    @Override
    public void onReset(Link link) {
        links.remove(link);
    }

    @Override
    public String toString() {
        return address.getPort() + " " + mood;
    }
}
