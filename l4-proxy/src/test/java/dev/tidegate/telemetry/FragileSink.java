package dev.tidegate.telemetry;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A sink that takes as many bytes as it has room for. */
final class FragileSink implements LogSink {
    private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
    private int room;
    private int refusals;
    private RuntimeException fault;

    FragileSink(int room) {
        this.room = room;
    }

    @Override
    public synchronized void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (fault != null && taken.size() > 0) {
                RuntimeException thrown = fault;
                fault = null;
                throw thrown;
            }
            if (room == 0) {
                refusals++;
                throw new IOException("No space left on device");
            }
            taken.write(bytes.get());
            room--;
        }
    }

    @Override
    public boolean reopen() {
        return false;
    }

    @Override
    public void close() {}

    synchronized void room(int now) {
        room = now;
    }

    /** Throws this once, after the first byte. */
    synchronized void failOnce(RuntimeException with) {
        fault = with;
    }

    synchronized int refusals() {
        return refusals;
    }

    synchronized String text() {
        return taken.toString(StandardCharsets.UTF_8);
    }
}
