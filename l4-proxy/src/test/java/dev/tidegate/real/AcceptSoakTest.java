package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;

/**
 * Accepting goes on, however many connections came before and however many come at once (netty/netty#14819,
 * netty/netty#15502: with io_uring none were accepted any more after some time).
 */
class AcceptSoakTest {
    @EachTransport
    @Tag("slow")
    void manyConnectsOneAfterAnotherAndManyAtOnceAreAllServed(Wish transport) throws Exception {
        soak(transport, 600, 300);
    }

    @EachTransport
    @Tag("nightly")
    void twentyThousandConnectsOneAfterAnotherAndTwoThousandAtOnceAreAllServed(Wish transport) throws Exception {
        soak(transport, 20_000, 2_000);
    }

    private static void soak(Wish transport, int oneAfterAnother, int atOnce) throws Exception {
        try (var endpoint = new OneByteEcho();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"" + Daemon.hostPort(endpoint.address()) + "\"}")
                        .workers(2)
                        .start()) {
            for (int i = 0; i < oneAfterAnother / 2; i++) {
                connectAndAsk(proxy, i);
            }
            proxy.awaitNoConnections();
            connectAtOnce(proxy, atOnce);
            for (int i = oneAfterAnother / 2; i < oneAfterAnother; i++) {
                connectAndAsk(proxy, i);
            }
            proxy.awaitNoConnections();

            assertEquals(oneAfterAnother + atOnce, proxy.sum(row -> row.accepted), "accepted");
            assertEquals(oneAfterAnother + atOnce, proxy.closed(), "closed");
            assertEquals(oneAfterAnother + atOnce, proxy.sum(row -> row.receivedBytes), "received");
            assertEquals(oneAfterAnother + atOnce, proxy.sum(row -> row.sentBytes), "sent");
        }
    }

    private static void connectAndAsk(ProxyFixture proxy, int number) throws IOException {
        try (ScriptedClient client = proxy.connect()) {
            byte question = (byte) number;
            client.send(new byte[] {question});
            assertEquals(question, client.readExactly(1)[0]);
        }
    }

    private static void connectAtOnce(ProxyFixture proxy, int count) throws IOException {
        List<SocketChannel> clients = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                SocketChannel client = SocketChannel.open();
                clients.add(client);
                client.configureBlocking(false);
                client.connect(proxy.address());
            }
            for (SocketChannel client : clients) {
                client.configureBlocking(false);
                Await.until("connected " + client, () -> finished(client));
                client.configureBlocking(true);
                client.write(ByteBuffer.wrap(new byte[] {7}));
            }
            for (SocketChannel client : clients) {
                client.socket().setSoTimeout(Math.toIntExact(Await.BOUND.toMillis()));
                assertEquals(7, client.socket().getInputStream().read());
            }
            assertEquals(count, proxy.active(), "open at once");
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
        }
    }

    private static boolean finished(SocketChannel client) {
        try {
            return client.finishConnect();
        } catch (IOException refused) {
            throw new AssertionError("connect failed", refused);
        }
    }

    /** Sends back the first byte of each connection, on one thread, however many there are. */
    private static final class OneByteEcho implements AutoCloseable {
        private final Selector selector = Selector.open();
        private final ServerSocketChannel server = ServerSocketChannel.open();
        private final InetSocketAddress address = Daemon.freeAddress();
        private final Thread thread = new Thread(this::run, "one-byte-echo");
        private volatile IOException failed; // writer: the thread

        OneByteEcho() throws IOException {
            server.bind(address, 4096).configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            thread.start();
        }

        InetSocketAddress address() {
            return address;
        }

        private void run() {
            try {
                while (server.isOpen()) {
                    selector.select();
                    for (SelectionKey key : selector.selectedKeys()) {
                        serve(key);
                    }
                    selector.selectedKeys().clear();
                }
            } catch (IOException e) {
                failed = e;
            }
        }

        private void serve(SelectionKey key) throws IOException {
            if (!key.isValid()) {
                return;
            }
            if (key.isAcceptable()) {
                SocketChannel accepted = server.accept();
                if (accepted != null) {
                    accepted.configureBlocking(false);
                    accepted.register(selector, SelectionKey.OP_READ);
                }
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            ByteBuffer one = ByteBuffer.allocate(1);
            if (channel.read(one) < 0) {
                channel.close();
            } else {
                channel.write(one.flip());
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
            selector.wakeup();
            Await.until("the echo's thread ends", () -> !thread.isAlive());
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
            if (failed != null) {
                throw failed;
            }
        }
    }
}
