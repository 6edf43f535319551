package dev.tidegate.cli;

import dev.tidegate.testkit.HostPort;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients that come at an even pace, whatever became of those before: each connects, has its talk with the endpoint, and
 * remembers the answer and how long all of it took from when it was due.
 */
final class SteadyClients implements AutoCloseable {
    /** What a client does on its connection. */
    interface Talk {
        /**
         * Speaks and listens.
         *
         * @return the answer
         * @throws IOException when there is none
         */
        String with(Socket endpoint) throws IOException;
    }

    private static final byte[] REQUEST = "GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
    private static final int PATIENCE_MILLIS = 2_000;
    private static final int MOST_AT_A_TIME = 2_000;

    /**
     * What became of one.
     *
     * @param startNanos when it was due
     * @param tookNanos from then to the end of the answer
     * @param client the address and port that it came from, as an access log has them; null when it could not even connect
     * @param answer the body; null when there was none
     * @param failure what the client met; null when it has an answer
     */
    record Visit(long startNanos, long tookNanos, String client, String answer, String failure) {
        boolean failed() {
            return failure != null;
        }
    }

    private final InetSocketAddress address;
    private final Talk talk;
    private final Queue<Visit> visits = new ConcurrentLinkedQueue<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService clients = Executors.newCachedThreadPool();
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger come = new AtomicInteger();

    private SteadyClients(InetSocketAddress address, Talk talk) {
        this.address = address;
        this.talk = talk;
    }

    /** Clients that ask by HTTP/1.0, and read the answer to its end. */
    static SteadyClients start(InetSocketAddress address, int perSecond) {
        return start(address, perSecond, SteadyClients::ask);
    }

    static SteadyClients start(InetSocketAddress address, int perSecond, Talk talk) {
        SteadyClients all = new SteadyClients(address, talk);
        long gap = TimeUnit.SECONDS.toNanos(1) / perSecond;
        var unused = all.clock.scheduleAtFixedRate(all::come, 0, gap, TimeUnit.NANOSECONDS);
        return all;
    }

    /**
     * Before those: some who come as fast as they go, so many at a time, so that what serves them, and this process, are
     * warm. They are not remembered.
     *
     * @return how many had an answer when so many had come, or the time was over
     */
    static int rush(InetSocketAddress address, int atATime, int count, Duration bound) throws InterruptedException {
        try (SteadyClients all = new SteadyClients(address, SteadyClients::ask)) {
            long until = System.nanoTime() + bound.toNanos();
            for (int i = 0; i < atATime; i++) {
                all.clients.execute(() -> {
                    while (all.come.get() < count && System.nanoTime() - until < 0) {
                        all.visit(System.nanoTime());
                    }
                });
            }
            all.stop();
            return (int) all.visits.stream().filter(visit -> !visit.failed()).count();
        }
    }

    private void come() {
        long due = System.nanoTime();
        if (underWay.get() < MOST_AT_A_TIME) {
            underWay.getAndIncrement();
            clients.execute(() -> {
                try {
                    visit(due);
                } finally {
                    underWay.getAndDecrement();
                }
            });
        } else {
            visits.add(new Visit(due, 0, null, null, "too many clients wait"));
        }
    }

    private void visit(long due) {
        String client = null;
        String answer = null;
        String failure = null;
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress(ownAddress(), 0));
            socket.connect(address, PATIENCE_MILLIS);
            client = HostPort.of((InetSocketAddress) socket.getLocalSocketAddress());
            socket.setSoTimeout(PATIENCE_MILLIS);
            answer = talk.with(socket);
        } catch (IOException met) {
            failure = met.toString();
        }
        visits.add(new Visit(due, System.nanoTime() - due, client, answer, failure));
    }

    /** One of some millions, so that an access log's line can be told to be this client's, and source ports do not run out. */
    private InetAddress ownAddress() throws IOException {
        int number = come.getAndIncrement();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) (64 + number / 62_500 % 64), (byte) (1 + number / 250 % 250), (byte) (1 + number % 250)
        });
    }

    private static String ask(Socket endpoint) throws IOException {
        endpoint.getOutputStream().write(REQUEST);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        endpoint.getInputStream().transferTo(all);
        String text = all.toString(StandardCharsets.ISO_8859_1);
        int body = text.indexOf("\r\n\r\n");
        if (!text.startsWith("HTTP/1.1 200") || body < 0) {
            throw new IOException("an answer of " + text.length() + " bytes");
        }
        return text.substring(body + 4);
    }

    /** Those that began between two moments, as far as they have ended. */
    List<Visit> between(long fromNanos, long toNanos) {
        List<Visit> found = new ArrayList<>();
        for (Visit visit : visits) {
            if (visit.startNanos() - fromNanos >= 0 && visit.startNanos() - toNanos < 0) {
                found.add(visit);
            }
        }
        return found;
    }

    /** How many have ended. */
    int ended() {
        return visits.size();
    }

    /** Nobody comes any more; waits for those who are there. */
    void stop() throws InterruptedException {
        clock.shutdownNow();
        clients.shutdown();
        if (!clients.awaitTermination(30, TimeUnit.SECONDS)) {
            throw new AssertionError("clients that do not come to an end: " + underWay.get());
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        clients.shutdownNow();
    }
}
