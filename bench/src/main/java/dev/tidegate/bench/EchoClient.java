package dev.tidegate.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A kept connection that exchanges messages of 64 bytes. Confined to the load loop.
 *
 * <p>What it does at an answer makes the three kinds of it: the next message at once (closed loop), nothing before its time
 * has come (open loop: {@link #sendAt}), or nothing at all (a connection that is held idle, until it is to be busy).
 */
final class EchoClient extends LoadClient {
    /** What an answer is followed by. */
    enum Pace {
        CLOSED_LOOP,
        OPEN_LOOP,
        HELD
    }

    private static final int WAITING_MAX = 1 << 16;

    private final Pace pace;
    private final ByteBuffer message;
    private long unsentBytes;
    private long receivedBytes;
    private boolean proved;
    // The intended times of the messages under way, oldest first: a ring, so that nothing is allocated per message.
    private long[] intendedNanos = new long[64];
    private int oldest;
    private int waiting;

    EchoClient(LoadLoop loop, LoadRun run, Pace pace) {
        super(loop, run);
        this.pace = pace;
        this.message = run.spec().scenario() == Scenario.HTTP1 ? loop.httpRequest() : loop.message();
    }

    /** Sends a message whose latency counts from {@code intended}, however late it is now. Hot: no allocation. */
    void sendAt(long intended) {
        if (isDone()) {
            return;
        }
        if (waiting == intendedNanos.length && !grow()) {
            onFailure(new IOException(waiting + " answers are owed: the rate is above what the target can do"));
            return;
        }
        intendedNanos[(oldest + waiting) & (intendedNanos.length - 1)] = intended;
        waiting++;
        try {
            send();
        } catch (IOException e) {
            onFailure(e);
        }
    }

    /** A held connection sends a message, and goes on as long as the run is busy. */
    void exchange() {
        if (isDone()) {
            return;
        }
        try {
            sendNow();
        } catch (IOException e) {
            onFailure(e);
        }
    }

    /** Whether an answer is waited for. */
    boolean isOwed() {
        return !isDone() && waiting > 0;
    }

    @Override
    void onConnected() throws IOException {
        if (pace != Pace.OPEN_LOOP) {
            sendNow();
        }
    }

    @Override
    void onReadable() throws IOException {
        ByteBuffer buffer = loop().scratch();
        int read = read(buffer);
        if (read < 0) {
            throw new IOException("ended by the other side with " + waiting + " answers owed");
        }
        receivedBytes += read;
        while (receivedBytes >= LoadLoop.MESSAGE_BYTES) {
            receivedBytes -= LoadLoop.MESSAGE_BYTES;
            onAnswer();
        }
    }

    @Override
    void onWritable() throws IOException {
        flush();
    }

    @Override
    void onStop() {
        if (pace != Pace.CLOSED_LOOP && waiting == 0) {
            finish();
        }
    }

    private void onAnswer() throws IOException {
        if (waiting == 0) {
            throw new IOException("more bytes came back than were sent");
        }
        long intended = intendedNanos[oldest];
        oldest = (oldest + 1) & (intendedNanos.length - 1);
        waiting--;
        switch (pace) {
            case CLOSED_LOOP -> {
                run().counted(1);
                if (run().isStopping()) {
                    finish();
                } else {
                    sendNow();
                }
            }
            case OPEN_LOOP -> {
                run().counted(1);
                run().answered(intended, System.nanoTime());
                if (run().isStopping()) {
                    onStop();
                }
            }
            case HELD -> onHeldAnswer();
        }
    }

    /** The first one proves the connection, which is what is counted then. */
    private void onHeldAnswer() throws IOException {
        if (!proved) {
            proved = true;
            run().counted(1);
            return;
        }
        run().exchanged();
        if (run().isBusy()) {
            sendNow();
        }
    }

    private void sendNow() throws IOException {
        intendedNanos[(oldest + waiting) & (intendedNanos.length - 1)] = 0;
        waiting++;
        send();
    }

    private void send() throws IOException {
        unsentBytes += LoadLoop.MESSAGE_BYTES;
        if (unsentBytes == LoadLoop.MESSAGE_BYTES) {
            flush();
        }
    }

    private void flush() throws IOException {
        while (unsentBytes > 0) {
            message.clear();
            int rest = (int) (unsentBytes % LoadLoop.MESSAGE_BYTES);
            message.position(rest == 0 ? 0 : LoadLoop.MESSAGE_BYTES - rest);
            int written = write(message);
            if (written == 0) {
                break;
            }
            unsentBytes -= written;
        }
        wantWrite(unsentBytes > 0);
    }

    private boolean grow() {
        if (waiting >= WAITING_MAX) {
            return false;
        }
        long[] larger = Arrays.copyOf(intendedNanos, intendedNanos.length * 2);
        for (int i = 0; i < waiting; i++) {
            larger[i] = intendedNanos[(oldest + i) & (intendedNanos.length - 1)];
        }
        intendedNanos = larger;
        oldest = 0;
        return true;
    }
}
