package dev.tidegate.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * An endpoint for thousands of connections, as a process of its own: it reads what comes and, if asked to, says a byte to
 * everybody time and again and never stops. Arguments: milliseconds between two bytes, 0 for none. Prints its port and runs
 * until it is ended.
 */
final class StormEndpoint {
    private static final int BACKLOG = 4096;

    private final ByteBuffer buffer = ByteBuffer.allocate(4096);
    private final Selector selector = Selector.open();

    private StormEndpoint() throws IOException {}

    public static void main(String[] arguments) throws IOException {
        new StormEndpoint().run(Long.parseLong(arguments[0]) * 1_000_000);
    }

    private void run(long everyNanos) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        System.out.println(server.socket().getLocalPort());
        long nextNanos = System.nanoTime() + everyNanos;
        while (true) {
            selector.select(everyNanos == 0 ? 0 : Math.max(1, (nextNanos - System.nanoTime()) / 1_000_000));
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    accept(server);
                } else if (key.isValid()) {
                    read(key);
                }
            }
            selector.selectedKeys().clear();
            if (everyNanos != 0 && System.nanoTime() - nextNanos >= 0) {
                nextNanos += everyNanos;
                selector.keys().forEach(this::say);
            }
        }
    }

    private void accept(ServerSocketChannel server) throws IOException {
        for (SocketChannel channel = server.accept(); channel != null; channel = server.accept()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
        }
    }

    private void read(SelectionKey key) {
        SocketChannel channel = (SocketChannel) key.channel();
        try {
            buffer.clear();
            if (channel.read(buffer) < 0) {
                close(channel);
            }
        } catch (IOException reset) {
            close(channel);
        }
    }

    private void say(SelectionKey key) {
        if (key.isValid() && key.channel() instanceof SocketChannel channel) {
            try {
                channel.write(ByteBuffer.wrap(new byte[] {'.'}));
            } catch (IOException reset) {
                close(channel);
            }
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close " + channel, e);
        }
    }
}
