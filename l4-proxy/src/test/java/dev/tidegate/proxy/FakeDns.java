package dev.tidegate.proxy;

import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
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
        SILENT
    }

    private final DatagramSocket socket;
    private final AtomicInteger questions = new AtomicInteger();
    private volatile Mode mode = Mode.GOOD; // writer: the test
    private volatile List<byte[]> addresses = List.of(); // writer: the test

    FakeDns() throws IOException {
        socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::serve, "fake-dns");
        thread.setDaemon(true);
        thread.start();
    }

    /** For {@link ProxyFixture.Setup#nameServers}. */
    DnsServerAddressStreamProvider provider() {
        return new SingletonDnsServerAddressStreamProvider((InetSocketAddress) socket.getLocalSocketAddress());
    }

    /** From now on a good answer with these last bytes of 127.0.0.x, and a time to live of one second. */
    void answer(int... lastBytes) {
        addresses = Arrays.stream(lastBytes)
                .mapToObj(last -> new byte[] {127, 0, 0, (byte) last})
                .toList();
        mode = Mode.GOOD;
    }

    /** From now on in that way. */
    void answer(Mode now) {
        mode = now;
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
                if (mode != Mode.SILENT) {
                    byte[] out = reply(Arrays.copyOf(in, packet.getLength()));
                    socket.send(new DatagramPacket(out, out.length, packet.getSocketAddress()));
                }
            } catch (IOException e) {
                if (!socket.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private byte[] reply(byte[] query) {
        int end = 12;
        while (query[end] != 0) {
            end += 1 + query[end];
        }
        end += 5; // the root's zero, type and class
        int type = ByteBuffer.wrap(query).getShort(end - 4);
        Mode now = mode;
        List<byte[]> answers = now == Mode.GOOD && type == TYPE_A ? addresses : List.of();
        int code =
                switch (now) {
                    case NXDOMAIN -> 3;
                    case SERVFAIL -> 2;
                    case GOOD, EMPTY, SILENT -> 0;
                };
        ByteBuffer out = ByteBuffer.allocate(end + 16 * answers.size());
        out.put(query, 0, end);
        out.putShort(2, (short) (RESPONSE | code));
        out.putShort(4, (short) 1);
        out.putShort(6, (short) answers.size());
        out.putShort(8, (short) 0);
        out.putShort(10, (short) 0);
        for (byte[] address : answers) {
            out.putShort((short) 0xc00c); // the name of the question
            out.putShort((short) TYPE_A)
                    .putShort((short) 1)
                    .putInt(1)
                    .putShort((short) 4)
                    .put(address);
        }
        return out.array();
    }

    @Override
    public void close() {
        socket.close();
    }
}
