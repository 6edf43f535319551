package dev.tidegate.simulation;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** The clients of a run. Each has one connection; who is sent away and has more to ask comes again as another. */
final class Crowd {
    private static final long LONGEST_WAY_BACK = TimeUnit.MILLISECONDS.toNanos(20);

    private final SimNetwork network;
    private final InetSocketAddress front;
    private final SplittableRandom random;
    private final List<SimClient> clients = new ArrayList<>();

    Crowd(SimNetwork network, InetSocketAddress front, SplittableRandom random) {
        this.network = network;
        this.front = front;
        this.random = random;
    }

    /** A client comes then, for so many requests. */
    void come(long inNanos) {
        add(Speech.values()[random.nextInt(Speech.values().length)], Temper.draw(random), inNanos);
    }

    /** One that was sent away comes again. */
    void again(Speech speech, Temper temper) {
        add(speech, temper, random.nextLong(LONGEST_WAY_BACK));
    }

    private void add(Speech speech, Temper temper, long inNanos) {
        int id = clients.size();
        SimClient client =
                switch (speech) {
                    case OPAQUE -> new OpaqueClient(this, network, random.split(), id, temper);
                    case HTTP1 -> new Http1Client(this, network, random.split(), id, temper);
                    case HTTP2 -> new Http2Client(this, network, random.split(), id, temper);
                };
        clients.add(client);
        network.in(inNanos, () -> network.connect(client, front));
    }

    /** What one client's connection has said. */
    Transcript transcript(int client) {
        Judge.check(client >= 0 && client < clients.size(), () -> "an endpoint has heard of client " + client);
        return clients.get(client).transcript();
    }

    List<SimClient> all() {
        return clients;
    }
}
