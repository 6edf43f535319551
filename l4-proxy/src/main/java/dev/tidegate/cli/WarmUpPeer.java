package dev.tidegate.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** An end of a warm-up's connection. Confined to its loop's thread. */
abstract class WarmUpPeer {
    private final WarmUpLoop loop;
    private SocketChannel channel;
    private SelectionKey key;
    private int bulkBytes; // still to be written

    WarmUpPeer(WarmUpLoop loop) {
        this.loop = loop;
    }

    /** Bytes have come. */
    abstract void received(ByteBuffer bytes) throws IOException;

    /** The other side has finished. */
    abstract void finished() throws IOException;

    /** It has come to an end that was not planned. */
    abstract void broken(IOException cause);

    final WarmUpLoop loop() {
        return loop;
    }

    final SocketChannel channel() {
        return channel;
    }

    /** Takes the channel, and hears of what is asked for. */
    final void register(SocketChannel mine, int interest) throws IOException {
        channel = mine;
        channel.configureBlocking(false);
        key = channel.register(loop.selector(), interest, this);
    }

    final void interest(int operations) {
        key.interestOps(operations);
    }

    void ready(SelectionKey ready) throws IOException {
        if (ready.isReadable()) {
            ByteBuffer bytes = loop.scratch();
            int read = channel.read(bytes);
            if (read < 0) {
                finished();
                return;
            }
            received(bytes.flip());
        }
        if (ready.isValid() && ready.isWritable()) {
            writeBulk();
        }
    }

    /** Writes few bytes, which a socket takes at once that has nothing else to send. */
    final void write(byte[] bytes) throws IOException {
        int written = channel.write(ByteBuffer.wrap(bytes));
        if (written != bytes.length) {
            throw new IOException("a socket took " + written + " of " + bytes.length + " bytes");
        }
    }

    /** Begins to write many bytes, and goes on when the socket takes more. */
    final void writeBulk(int bytes) throws IOException {
        bulkBytes = bytes;
        writeBulk();
    }

    private void writeBulk() throws IOException {
        while (bulkBytes > 0) {
            int written = channel.write(loop.bulk(bulkBytes));
            bulkBytes -= written;
            if (written == 0) {
                key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                return;
            }
        }
        key.interestOps(SelectionKey.OP_READ);
    }

    /** Closes it; a second call does nothing. */
    void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException failed) {
            loop.failed(failed);
        }
    }
}
