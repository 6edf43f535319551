package dev.tidegate.bench;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A stream from the endpoint: asked for with one byte, stopped with another, ended by the endpoint. Confined to the load loop. */
final class DownloadClient extends LoadClient {
    private static final int READS_PER_TURN = 4;

    private boolean stopSent;

    DownloadClient(LoadLoop loop, LoadRun run) {
        super(loop, run);
    }

    @Override
    void onConnected() throws IOException {
        send(BackendConnection.DOWNLOAD);
        if (run().isStopping()) {
            onStop();
        }
    }

    @Override
    void onReadable() throws IOException {
        for (int i = 0; i < READS_PER_TURN; i++) {
            ByteBuffer buffer = loop().scratch();
            int read = read(buffer);
            if (read < 0) {
                if (!stopSent) {
                    throw new IOException("the stream ended before it was stopped");
                }
                finish();
                return;
            }
            run().streamed(read);
            if (buffer.hasRemaining()) {
                return;
            }
        }
    }

    @Override
    void onWritable() {}

    @Override
    void onStop() throws IOException {
        if (isConnected() && !stopSent) {
            stopSent = true;
            send(BackendConnection.STOP);
        }
    }

    private void send(byte word) throws IOException {
        ByteBuffer buffer = loop().scratch().put(word).flip();
        if (write(buffer) != 1) {
            throw new IOException("the socket took no byte");
        }
    }
}
