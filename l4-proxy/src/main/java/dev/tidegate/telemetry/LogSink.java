package dev.tidegate.telemetry;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Where bytes of a log go. Confined to the log's writer thread; writing may block. */
interface LogSink extends AutoCloseable {
    /**
     * Writes all that remains.
     *
     * @throws IOException when it cannot; the buffer's position tells what was written before
     */
    void write(ByteBuffer bytes) throws IOException;

    /**
     * Opens anew what the path names now.
     *
     * @return whether that is another file than before
     * @throws IOException when it cannot; the old one stays in use
     */
    boolean reopen() throws IOException;

    @Override
    void close() throws IOException;
}
