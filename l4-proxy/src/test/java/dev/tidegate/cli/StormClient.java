package dev.tidegate.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * Thousands of clients that come within a time, send nothing, and come back at once when they are ended, as a process of
 * their own. Arguments: port, number of clients, milliseconds within which they come, generations. Prints a line for each
 * connection that has ended: its generation, when its connect began and when it ended (nanoseconds of one clock, since the
 * first), and {@code FIN} or {@code RST}; ends when all generations have.
 */
final class StormClient {
    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocate(4096);
    private final StringBuilder report = new StringBuilder();
    private final InetSocketAddress address;
    private final int generations;
    private final long startNanos = System.nanoTime();
    private int open;

    private record Life(int generation, long bornNanos) {}

    private StormClient(int port, int generations) throws IOException {
        this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        this.generations = generations;
    }

    public static void main(String[] arguments) throws IOException {
        new StormClient(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[3]))
                .run(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]) * 1_000_000);
    }

    private void run(int clients, long withinNanos) throws IOException {
        int begun = 0;
        while (begun < clients || open > 0) {
            long elapsed = System.nanoTime() - startNanos;
            while (begun < clients && (long) begun * withinNanos / clients <= elapsed) {
                connect(1);
                begun++;
            }
            selector.select(begun < clients ? 1 : 0);
            for (SelectionKey key : selector.selectedKeys()) {
                look(key);
            }
            selector.selectedKeys().clear();
        }
        System.out.print(report);
    }

    private void connect(int generation) throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.configureBlocking(false);
        Life life = new Life(generation, System.nanoTime());
        boolean connected = channel.connect(address);
        channel.register(selector, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, life);
        open++;
    }

    private void look(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        String end = "FIN";
        try {
            if (key.isConnectable()) {
                channel.finishConnect();
                key.interestOps(SelectionKey.OP_READ);
                return;
            }
            buffer.clear();
            if (channel.read(buffer) >= 0) {
                return;
            }
        } catch (IOException reset) {
            end = "RST";
        }
        long now = System.nanoTime();
        channel.close();
        open--;
        Life life = (Life) key.attachment();
        report.append(life.generation())
                .append(' ')
                .append(life.bornNanos() - startNanos)
                .append(' ')
                .append(now - startNanos)
                .append(' ')
                .append(end)
                .append('\n');
        if (life.generation() < generations) {
            connect(life.generation() + 1);
        }
    }
}
