package dev.tidegate.proxy;

import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A DNS server on a loopback port that answers every question for IPv4 addresses with what the test says. */
final class FakeDns implements AutoCloseable {
    private static final int TYPE_A = 1;
    private static final int RESPONSE = 0x8180;

    /** How it answers. */
    enum Mode {
        GOOD,
        NXDOMAIN,
        SERVFAIL,
        EMPTY,
        SILENT,
        /** Keeps the question until it is to answer in another way: of use for less than a lookup's patience. */
        HELD,
        /** Over UDP an answer that says it was cut short; the whole one over TCP. */
        TRUNCATED
    }

    private static final int CUT_SHORT = 0x0200;

    private final DatagramSocket socket;
    private final ServerSocket tcp;
    private final AtomicInteger tcpQuestions = new AtomicInteger();
    private final AtomicInteger questions = new AtomicInteger();
    private volatile Mode mode = Mode.GOOD; // writer: the test; told to who waits by the monitor
    private volatile List<byte[]> addresses = List.of(); // writer: the test
    private volatile int ttlSeconds = 1; // writer: the test
    private volatile String unknown = ""; // writer: the test

    FakeDns() throws IOException {
        ServerSocket listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        DatagramSocket bound = withTheSamePort(listening);
        while (bound == null) {
            listening.close();
            listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
            bound = withTheSamePort(listening);
        }
        tcp = listening;
        socket = bound;
        start("fake-dns", this::serve);
        start("fake-dns-tcp", this::serveTcp);
    }

    /** Null where someone else has it for UDP, as whoever asks a name server may. */
    private static DatagramSocket withTheSamePort(ServerSocket listening) throws IOException {
        try {
            return new DatagramSocket(listening.getLocalPort(), InetAddress.getLoopbackAddress());
        } catch (BindException taken) {
            return null;
        }
    }

    private static void start(String name, Runnable loop) {
        Thread thread = new Thread(loop, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** For {@link ProxyFixture.Setup#nameServers}. */
    DnsServerAddressStreamProvider provider() {
        return new SingletonDnsServerAddressStreamProvider((InetSocketAddress) socket.getLocalSocketAddress());
    }

    /** From now on a good answer with these last bytes of 127.0.0.x, and a time to live of one second, unless that is set. */
    void answer(int... lastBytes) {
        addresses = Arrays.stream(lastBytes)
                .mapToObj(last -> new byte[] {127, 0, 0, (byte) last})
                .toList();
        answer(Mode.GOOD);
    }

    /** From now on there is no such name, whatever is said of the others; with "" there are all. */
    void unknown(String name) {
        unknown = name;
    }

    /** From now on answers may be believed for so long. */
    void timeToLive(int seconds) {
        ttlSeconds = seconds;
    }

    /** From now on in that way. */
    synchronized void answer(Mode now) {
        mode = now;
        notifyAll();
    }

    private synchronized void awaitRelease() throws IOException {
        try {
            while (mode == Mode.HELD && !socket.isClosed()) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** Questions over TCP so far. */
    int tcpQuestions() {
        return tcpQuestions.get();
    }

    /** Questions so far. */
    int questions() {
        return questions.get();
    }

    private void serve() {
        byte[] in = new byte[1500];
        while (!socket.isClosed()) {
            DatagramPacket packet = new DatagramPacket(in, in.length);
            try {
                socket.receive(packet);
                questions.incrementAndGet();
                awaitRelease();
                if (mode != Mode.SILENT) {
                    byte[] out = reply(Arrays.copyOf(in, packet.getLength()), mode == Mode.TRUNCATED);
                    socket.send(new DatagramPacket(out, out.length, packet.getSocketAddress()));
                }
            } catch (IOException e) {
                if (!socket.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /** One question a connection, each message behind its length (RFC 1035, section 4.2.2). */
    private void serveTcp() {
        while (!tcp.isClosed()) {
            try (Socket accepted = tcp.accept()) {
                accepted.setSoTimeout(10_000);
                DataInputStream in = new DataInputStream(accepted.getInputStream());
                byte[] query = new byte[in.readUnsignedShort()];
                in.readFully(query);
                tcpQuestions.incrementAndGet();
                byte[] out = reply(query, false);
                DataOutputStream answer = new DataOutputStream(accepted.getOutputStream());
                answer.writeShort(out.length);
                answer.write(out);
                answer.flush();
            } catch (IOException e) {
                if (!tcp.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private byte[] reply(byte[] query, boolean cutShort) {
        int end = 12;
        StringBuilder name = new StringBuilder();
        while (query[end] != 0) {
            name.append(name.isEmpty() ? "" : ".")
                    .append(new String(query, end + 1, query[end], StandardCharsets.US_ASCII));
            end += 1 + query[end];
        }
        end += 5; // the root's zero, type and class
        int type = ByteBuffer.wrap(query).getShort(end - 4);
        Mode now = unknown.contentEquals(name) ? Mode.NXDOMAIN : mode;
        boolean good = now == Mode.GOOD || (now == Mode.TRUNCATED && !cutShort);
        List<byte[]> answers = good && type == TYPE_A ? addresses : List.of();
        int code =
                switch (now) {
                    case NXDOMAIN -> 3;
                    case SERVFAIL -> 2;
                    case GOOD, EMPTY, SILENT, HELD, TRUNCATED -> 0;
                };
        ByteBuffer out = ByteBuffer.allocate(end + 16 * answers.size());
        out.put(query, 0, end);
        out.putShort(2, (short) (RESPONSE | code | (cutShort ? CUT_SHORT : 0)));
        out.putShort(4, (short) 1);
        out.putShort(6, (short) answers.size());
        out.putShort(8, (short) 0);
        out.putShort(10, (short) 0);
        for (byte[] address : answers) {
            out.putShort((short) 0xc00c); // the name of the question
            out.putShort((short) TYPE_A)
                    .putShort((short) 1)
                    .putInt(ttlSeconds)
                    .putShort((short) 4)
                    .put(address);
        }
        return out.array();
    }

    @Override
    public void close() throws IOException {
        socket.close();
        answer(mode); // who waits is to see that
        tcp.close();
    }
}
