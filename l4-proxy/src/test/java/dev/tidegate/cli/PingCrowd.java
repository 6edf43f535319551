package dev.tidegate.cli;

import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Clients that ping over long connections to endpoints that first say their name of two letters and then echo. Each keeps
 * its connection for as long as it may, and does not come back when it is ended. Safe for use by any thread.
 */
final class PingCrowd implements AutoCloseable {
    private final InetSocketAddress address;
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(4);
    private final List<Client> clients = new ArrayList<>();
    private final Queue<Throwable> faults = new ConcurrentLinkedQueue<>();

    PingCrowd(int port) {
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** One client. */
    final class Client {
        private final ScriptedClient connection;
        private final String endpoint;
        private volatile boolean gone; // writer: a thread of the crowd
        private volatile int pings; // writer: a thread of the crowd

        private Client() throws IOException {
            connection = ScriptedClient.connect(address);
            endpoint = connection.readText(2);
        }

        /** The name of its endpoint. */
        String endpoint() {
            return endpoint;
        }

        /** Whether its connection was ended. */
        boolean gone() {
            return gone;
        }

        int pings() {
            return pings;
        }

        private synchronized void ping() {
            if (gone) {
                return;
            }
            try {
                connection.send("ping");
                if (!connection.readText(4).equals("ping")) {
                    throw new AssertionError(connection + ": another's bytes");
                }
                pings = pings + 1;
            } catch (IOException ended) {
                gone = true;
                connection.close();
            } catch (RuntimeException | AssertionError fault) {
                faults.add(fault);
            }
        }

        synchronized void leave() {
            gone = true;
            connection.close();
        }
    }

    /** So many more, each of which pings once in so many milliseconds. */
    List<Client> join(int count, int everyMillis) throws IOException {
        List<Client> more = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Client client = new Client();
            clients.add(client);
            more.add(client);
            threads.scheduleWithFixedDelay(
                    client::ping, (long) i * everyMillis / count, everyMillis, TimeUnit.MILLISECONDS);
        }
        return more;
    }

    /** All on that endpoint that are still connected. */
    List<Client> on(String endpoint) {
        return clients.stream()
                .filter(client -> !client.gone && client.endpoint.equals(endpoint))
                .toList();
    }

    /** All that are still connected. */
    List<Client> present() {
        return clients.stream().filter(client -> !client.gone).toList();
    }

    /** What must not happen and did. */
    List<Throwable> faults() {
        return List.copyOf(faults);
    }

    /** Everybody leaves. */
    void leave() {
        threads.shutdownNow();
        clients.forEach(Client::leave);
    }

    @Override
    public void close() {
        leave();
    }
}
