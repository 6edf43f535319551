package dev.tidegate.bench;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A connection that lives for one message: connect, message, answer, FIN, FIN, and then the next connection. Confined to
 * the load loop.
 */
final class ConnectClient extends LoadClient {
    private int receivedBytes;

    ConnectClient(LoadLoop loop, LoadRun run) {
        super(loop, run);
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
            if (!run().isStopping()) {
                open();
            }
        }
    }

    @Override
    void onWritable() {}

    @Override
    void onStop() {}
}
