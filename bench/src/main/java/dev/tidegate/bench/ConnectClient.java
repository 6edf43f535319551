package dev.tidegate.bench;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A connection that lives for one message: connect, message, answer, FIN, FIN, and then the next connection, unless there was
 * to be but one. Confined to the load loop.
 */
final class ConnectClient extends LoadClient {
    private int receivedBytes;
    private boolean isOnly;
    private long intendedNanos;

    ConnectClient(LoadLoop loop, LoadRun run) {
        super(loop, run);
    }

    /** Opens one connection, whose latency counts from then to its answer. */
    void openOnce(long dueNanos) {
        isOnly = true;
        intendedNanos = dueNanos;
        open();
    }

    @Override
    void onConnected() throws IOException {
        receivedBytes = 0;
        int written = write(loop().message());
        if (written != LoadLoop.MESSAGE_BYTES) {
            throw new IOException("a new socket took " + written + " bytes only");
        }
    }

    @Override
    void onReadable() throws IOException {
        ByteBuffer buffer = loop().scratch();
        int read = read(buffer);
        if (read > 0) {
            receivedBytes += read;
            if (receivedBytes == LoadLoop.MESSAGE_BYTES) {
                if (isOnly) {
                    run().answered(intendedNanos, System.nanoTime());
                }
                sendFin();
            }
            return;
        }
        if (read < 0) {
            if (receivedBytes != LoadLoop.MESSAGE_BYTES) {
                throw new IOException("ended after " + receivedBytes + " bytes instead of " + LoadLoop.MESSAGE_BYTES);
            }
            run().counted(1);
            finish();
            if (!isOnly && !run().isStopping()) {
                open();
            }
        }
    }

    @Override
    void onWritable() {}

    @Override
    void onStop() {}
}
