package dev.tidegate.bench;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A stream to the endpoint: ended with FIN, answered by the number of bytes that arrived. Confined to the load loop. */
final class UploadClient extends LoadClient {
    private static final int WRITES_PER_TURN = 4;

    private final ByteBuffer receipt =
            ByteBuffer.allocate(Long.BYTES + 1); // with no room left, a read would not see the end
    private boolean finSent;
    private long sentBytes;

    UploadClient(LoadLoop loop, LoadRun run) {
        super(loop, run);
    }

    @Override
    void onConnected() throws IOException {
        ByteBuffer buffer = loop().scratch().put(BackendConnection.UPLOAD).flip();
        sentBytes += write(buffer);
        wantWrite(true);
        if (run().isStopping()) {
            onStop();
        }
    }

    @Override
    void onWritable() throws IOException {
        for (int i = 0; i < WRITES_PER_TURN && !finSent; i++) {
            ByteBuffer bulk = loop().bulk();
            int written = write(bulk);
            sentBytes += written;
            run().counted(written);
            if (bulk.hasRemaining()) {
                return;
            }
        }
    }

    @Override
    void onReadable() throws IOException {
        int read = read(receipt);
        if (read >= 0) {
            return;
        }
        if (!finSent || receipt.position() != Long.BYTES) {
            throw new IOException("the other side ended "
                    + (finSent ? "with " + receipt.position() + " bytes of the receipt" : "before the stream did")
                    + ", after " + sentBytes + " bytes");
        }
        long arrived = receipt.getLong(0);
        if (arrived != sentBytes) {
            throw new IOException(arrived + " bytes arrived of " + sentBytes + " sent");
        }
        finish();
    }

    @Override
    void onStop() throws IOException {
        if (isConnected() && !finSent) {
            finSent = true;
            wantWrite(false);
            sendFin();
        }
    }
}
