package dev.tidegate.simulation;

import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/** A network that exists in memory and in virtual time: who listens where, what is under way, and how long it takes. */
final class SimNetwork {
    private static final long LEAST_LATENCY_NANOS = 50_000;
    /** Near, or far: there much may be under way when the other side says something. */
    private static final long[] MOST_LATENCY_NANOS = {2_000_000, 2_000_000, 20_000_000};

    /** What happens at a time; of what happens at one time, in the order in which it was said. */
    private record Event(long nanos, long number, Runnable what) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return nanos == other.nanos ? Long.compare(number, other.number) : Long.compare(nanos, other.nanos);
        }
    }

    private final MockTicker time = Ticker.newMockTicker();
    private final RandomGenerator random;
    private final long mostLatencyNanos;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final Map<InetSocketAddress, SimListener> listeners = new HashMap<>();
    private final Map<InetSocketAddress, SimEndpoint> endpoints = new HashMap<>();
    private final Set<SimSocket> open = new HashSet<>();
    private long numbers;
    private int nextPort = 20_000;

    SimNetwork(RandomGenerator random) {
        this.random = random;
        this.mostLatencyNanos = MOST_LATENCY_NANOS[random.nextInt(MOST_LATENCY_NANOS.length)];
    }

    // ---- time

    Ticker time() {
        return time;
    }

    long now() {
        return time.nanoTime();
    }

    /** After a latency, but not before that time. Answers when. */
    long later(long notBefore, Runnable what) {
        long at = Math.max(notBefore, now() + random.nextLong(LEAST_LATENCY_NANOS, mostLatencyNanos));
        at(at, what);
        return at;
    }

    void in(long nanos, Runnable what) {
        at(now() + nanos, what);
    }

    private void at(long nanos, Runnable what) {
        events.add(new Event(nanos, numbers++, what));
    }

    /** When the next event is; {@link Long#MAX_VALUE}: never. */
    long nextEvent() {
        return events.isEmpty() ? Long.MAX_VALUE : events.peek().nanos();
    }

    /** Moves time on to then, and has happen what is due. */
    void advanceTo(long nanos) {
        time.advance(Math.max(0, nanos - now()), TimeUnit.NANOSECONDS);
        while (nextEvent() <= now()) {
            events.poll().what().run();
        }
    }

    // ---- addresses

    void add(SimEndpoint endpoint) {
        endpoints.put(endpoint.address(), endpoint);
    }

    InetSocketAddress bind(InetSocketAddress address, SimListener listener) throws IOException {
        if (listeners.putIfAbsent(address, listener) != null) {
            throw new BindException("Address already in use");
        }
        return address;
    }

    void unbind(InetSocketAddress address) {
        listeners.remove(address);
    }

    // ---- connections

    /** A socket of the balancer's connects to an endpoint. */
    void connect(SimSocket socket, InetSocketAddress to) {
        open.add(socket);
        InetSocketAddress from = new InetSocketAddress(to.getAddress(), nextPort());
        later(0, () -> {
            SimEndpoint endpoint = endpoints.get(to);
            if (!socket.isOpen()) {
                return; // given up
            }
            if (endpoint == null || endpoint.refuses()) {
                socket.eventLoop().execute(() -> socket.refused(new ConnectException("Connection refused")));
            } else if (!endpoint.swallows()) {
                Link link = new Link(this, endpoint);
                endpoint.onConnected(link);
                later(0, () -> {
                    if (socket.isOpen()) {
                        socket.eventLoop().execute(() -> socket.connected(link, from));
                    } else {
                        link.resetByBalancer();
                    }
                });
            }
        });
    }

    /** A client connects to the balancer. It hears of it by its link's ends; what it sends at once is not lost. */
    void connect(SimClient client, InetSocketAddress to) {
        InetSocketAddress from = new InetSocketAddress(to.getAddress(), nextPort());
        later(0, () -> {
            SimListener listener = listeners.get(to);
            if (listener == null) {
                client.onRefused();
                return;
            }
            Link link = new Link(this, client);
            SimSocket accepted = new SimSocket(listener, this, link, to, from);
            open.add(accepted);
            listener.enqueue(accepted);
            later(0, () -> client.onConnected(link, from));
        });
    }

    private int nextPort() {
        nextPort = nextPort == 65_535 ? 20_000 : nextPort + 1;
        return nextPort;
    }

    void closed(SimSocket socket) {
        open.remove(socket);
    }

    /** Sockets of the balancer's that are open. */
    int openSockets() {
        return open.size();
    }

    @Override
    public String toString() {
        return "at " + TimeUnit.NANOSECONDS.toMillis(now()) + " ms";
    }
}
