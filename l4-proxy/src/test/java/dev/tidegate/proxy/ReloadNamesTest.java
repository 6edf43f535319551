package dev.tidegate.proxy;

import static dev.tidegate.proxy.ReloadFixture.connectTo;
import static dev.tidegate.proxy.ReloadFixture.endpoint;
import static dev.tidegate.proxy.ReloadFixture.named;
import static dev.tidegate.proxy.ReloadFixture.yaml;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.Await;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Endpoints by name come and go with reloads. */
class ReloadNamesTest {
    @Test
    @Tag("slow")
    void aNameIsAskedForFromTheReloadThatBringsItToTheOneThatTakesItAway() throws Exception {
        int port = ReloadFixture.port();
        try (var names = new Names();
                var a = named("a");
                var b = named("b");
                var proxy = ReloadFixture.start(
                        Wish.EPOLL,
                        yaml(port, endpoint("a", a)),
                        new SingletonDnsServerAddressStreamProvider(names.address()))) {
            String going = "{name: going, address: \"going.test:" + b.port() + "\"}";
            String staying = "{name: staying, address: \"staying.test:" + b.port() + "\"}";
            proxy.reload(yaml(port, going, staying));
            Await.until(
                    "both are resolved",
                    () -> proxy.cell("going").resolved()
                            && proxy.cell("staying").resolved());
            connectTo(port, "b").close();

            proxy.reload(yaml(port, staying));
            long asked = names.count("going.test");
            long kept = names.count("staying.test");
            Await.until("the other is asked for again and again", () -> names.count("staying.test") >= kept + 6);

            // What was under way when the reload came may still have been sent, for both families.
            long after = names.count("going.test");
            assertTrue(after <= asked + 2, () -> "asked for " + asked + " times, then " + after);
            connectTo(port, "b").close();
        }
    }

    /** A DNS server that knows every name as 127.0.0.1, for a second. */
    private static final class Names implements AutoCloseable {
        private static final int TYPE_A = 1;

        private final DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        private final List<String> asked = new CopyOnWriteArrayList<>();

        Names() throws IOException {
            Thread thread = new Thread(this::serve, "names");
            thread.setDaemon(true);
            thread.start();
        }

        InetSocketAddress address() {
            return (InetSocketAddress) socket.getLocalSocketAddress();
        }

        long count(String name) {
            return asked.stream().filter(name::equals).count();
        }

        private void serve() {
            byte[] in = new byte[1500];
            while (!socket.isClosed()) {
                DatagramPacket packet = new DatagramPacket(in, in.length);
                try {
                    socket.receive(packet);
                    byte[] out = answer(Arrays.copyOf(in, packet.getLength()));
                    socket.send(new DatagramPacket(out, out.length, packet.getSocketAddress()));
                } catch (IOException e) {
                    if (!socket.isClosed()) {
                        throw new UncheckedIOException(e);
                    }
                }
            }
        }

        /** RFC 1035, section 4: the question again, and one address record that points to its name. */
        private byte[] answer(byte[] query) {
            StringBuilder name = new StringBuilder();
            int at = 12;
            for (; query[at] != 0; at += 1 + query[at]) {
                name.append(name.isEmpty() ? "" : ".")
                        .append(new String(query, at + 1, query[at], StandardCharsets.US_ASCII));
            }
            asked.add(name.toString());
            int end = at + 5;
            boolean v4 = ByteBuffer.wrap(query).getShort(at + 1) == TYPE_A;
            ByteBuffer out = ByteBuffer.allocate(end + (v4 ? 16 : 0));
            out.put(query, 0, end).putShort(2, (short) 0x8180).putShort(4, (short) 1);
            out.putShort(6, (short) (v4 ? 1 : 0)).putInt(8, 0);
            if (v4) {
                out.putShort((short) 0xc00c).putShort((short) TYPE_A).putShort((short) 1);
                out.putInt(1).putShort((short) 4).put(new byte[] {127, 0, 0, 1});
            }
            return out.array();
        }

        @Override
        public void close() {
            socket.close();
        }
    }
}
