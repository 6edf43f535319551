package dev.tidegate.testkit;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * The usual scripts and faults of a backend, as steps that combine: {@code greet(banner).then(echo())}.
 *
 * <p>Each says how it leaves the connection; after the last step the socket is closed.
 */
public final class Scripts {
    private static final int CHUNK_BYTES = 64 * 1024;

    private Scripts() {}

    /** Sends back what comes until FIN, then closes. */
    public static Script echo() {
        return connection -> {
            byte[] chunk = new byte[CHUNK_BYTES];
            for (int count = connection.read(chunk); count >= 0; count = connection.read(chunk)) {
                connection.send(count == chunk.length ? chunk : Arrays.copyOf(chunk, count));
            }
        };
    }

    /** Speaks first: sends {@code banner} and goes on to the next step. */
    public static Script greet(byte[] banner) {
        return connection -> connection.send(banner);
    }

    /** Neither reads nor writes; stays until the backend closes. */
    public static Script silent() {
        return ScriptedConnection::hold;
    }

    /** Resets at once. */
    public static Script rst() {
        return ScriptedPeer::reset;
    }

    /** Reads exactly {@code bytes} (unless the client ends before), then resets. */
    public static Script rstAfterReading(int bytes) {
        return connection -> {
            connection.readExactly(bytes);
            connection.reset();
        };
    }

    /** Sends the first {@code bytes} of the stream of {@code seed}, waits until they have arrived, then resets. */
    public static Script rstAfterWriting(long seed, long bytes) {
        return connection -> {
            connection.sendSeeded(seed, bytes);
            connection.awaitAcknowledged();
            connection.reset();
        };
    }

    /** Sends FIN first and reads to the client's end. */
    public static Script finThenRead() {
        return connection -> {
            connection.shutdownOutput();
            connection.readToEnd();
        };
    }

    /** Reads (and hashes) to the client's FIN, then sends {@code reply} and closes. On RST there is no reply. */
    public static Script readToEndThenReply(byte[] reply) {
        return connection -> {
            if (connection.readToEnd().kind() == End.Kind.FIN) {
                connection.send(reply);
            }
        };
    }

    /** Reads (and hashes) to the client's end and closes. */
    public static Script readToEnd() {
        return ScriptedPeer::readToEnd;
    }

    /** Sends the first {@code bytes} of the stream of {@code seed}, then FIN, then reads to the client's end. */
    public static Script sendThenFin(long seed, long bytes) {
        return connection -> {
            connection.sendSeeded(seed, bytes);
            connection.shutdownOutput();
            connection.readToEnd();
        };
    }

    /** Sends the stream of {@code seed} for as long as the client takes it. Reads nothing. */
    public static Script streamForever(long seed) {
        return connection -> connection.sendSeeded(seed, Long.MAX_VALUE);
    }

    /** Sends {@code bytes} in one-byte segments, {@code pause} apart, and goes on to the next step. */
    public static Script sliced(byte[] bytes, Duration pause) {
        return connection -> connection.sendSliced(bytes, pause);
    }

    /**
     * Reads about {@code bytesPerSecond} until the client's end. Let the backend have a small receive buffer, or the kernel
     * reads ahead for it: {@link ScriptedBackend#slowReader}.
     */
    public static Script slowReader(int bytesPerSecond) {
        return connection -> {
            byte[] sip = new byte[Math.max(1, bytesPerSecond / 100)];
            long startNanos = System.nanoTime();
            for (int count = connection.read(sip); count >= 0; count = connection.read(sip)) {
                long dueNanos = startNanos + connection.bytesReceived() * 1_000_000_000L / bytesPerSecond;
                pauseUntil(connection, dueNanos);
            }
        };
    }

    /** The pace is the fault that is played here; nothing waits for it to be over but the peer itself. */
    private static void pauseUntil(ScriptedConnection connection, long dueNanos) throws IOException {
        while (connection.isOpen() && dueNanos - System.nanoTime() > 0) {
            LockSupport.parkNanos(Math.min(dueNanos - System.nanoTime(), 20_000_000L));
        }
    }
}
