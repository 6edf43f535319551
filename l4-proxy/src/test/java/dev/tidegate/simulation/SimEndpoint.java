package dev.tidegate.simulation;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;

/** An endpoint in a simulated network: serves connections in whatever they speak, and has faults. */
final class SimEndpoint implements SimPeer {
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

    private final SimNetwork network;
    private final SplittableRandom random;
    private final InetSocketAddress address;
    private final IntFunction<Transcript> transcripts;
    private final Map<Link, Service> services = new LinkedHashMap<>();
    private final Map<Link, Inbox> newcomers =
            new LinkedHashMap<>(); // that have not said enough to know what they speak
    private Mood mood = Mood.WELL;
    private long lastFault = Long.MIN_VALUE / 2;

    /** {@code transcripts} has what was said by a client of that number. */
    SimEndpoint(
            SimNetwork network,
            SplittableRandom random,
            InetSocketAddress address,
            IntFunction<Transcript> transcripts) {
        this.network = network;
        this.random = random;
        this.address = address;
        this.transcripts = transcripts;
    }

    InetSocketAddress address() {
        return address;
    }

    void become(Mood next) {
        lastFault = network.now();
        mood = next;
        if (next == Mood.DEAD) {
            List<Link> all = List.copyOf(services.keySet());
            services.clear();
            all.forEach(Link::reset);
            List.copyOf(newcomers.keySet()).forEach(Link::reset);
            newcomers.clear();
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

    // ---- its connections

    void onConnected(Link link) {
        newcomers.put(link, new Inbox());
    }

    @Override
    public void onBytes(Link link, byte[] bytes) {
        link.taken(bytes.length);
        Service service = services.get(link);
        Inbox inbox = newcomers.get(link);
        if (service == null && inbox == null) {
            return;
        }
        switch (mood) {
            case MUTE, UNREACHABLE -> forget(link); // what is lost here nobody says again
            case CURT, DEAD -> {
                forget(link);
                link.reset();
            }
            case WELL -> {
                if (service != null) {
                    service.onBytes(bytes);
                } else {
                    inbox.add(bytes);
                    recognise(link, inbox);
                }
            }
        }
    }

    private void recognise(Link link, Inbox inbox) {
        if (inbox.size() < 2) {
            return;
        }
        RandomGenerator own = random.split();
        Service service = Talk.isRequest(inbox.at(0))
                ? new OpaqueService(this, link, own)
                : inbox.at(0) == Frame.PREFACE[0] && inbox.at(1) == Frame.PREFACE[1]
                        ? new Http2Service(this, link, own)
                        : new Http1Service(this, link, own);
        newcomers.remove(link);
        services.put(link, service);
        service.onBytes(inbox.peek());
    }

    @Override
    public void onFin(Link link) {
        Service service = services.get(link);
        if (service != null) {
            service.onFin();
        } else if (newcomers.remove(link) != null) {
            link.fin();
        }
    }

    @Override
    public void onReset(Link link) {
        forget(link);
    }

    void forget(Link link) {
        services.remove(link);
        newcomers.remove(link);
    }

    /** Whether it still has that connection, and is in the mood to say something on it. */
    boolean isServing(Link link) {
        return services.containsKey(link) && mood != Mood.MUTE && mood != Mood.UNREACHABLE;
    }

    Transcript transcript(int client) {
        return transcripts.apply(client);
    }

    void in(long nanos, Runnable what) {
        network.in(nanos, what);
    }

    @Override
    public String toString() {
        return address.getPort() + " " + mood;
    }
}
