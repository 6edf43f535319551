package dev.tidegate.testkit;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * One accepted connection of a {@link ScriptedBackend}: the verbs for its script and the record for the test.
 *
 * <p>Its calls have no bound, as a backend may wait for as long as it likes; closing the backend ends them.
 */
public final class ScriptedConnection extends ScriptedPeer {
    private final int index;
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean holding; // writer: the script's thread
    private volatile Throwable scriptEnd; // writer: the script's thread
    private final CountDownLatch done = new CountDownLatch(1);

    ScriptedConnection(int index, SocketChannel channel) throws IOException {
        super(channel, Duration.ZERO);
        this.index = index;
    }

    /** Its place in the order of acceptance, from 0. */
    public int index() {
        return index;
    }

    /** Keeps the connection as it is, reading and writing nothing, until {@link #close()}. */
    public void hold() {
        holding = true;
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            holding = false;
        }
    }

    /**
     * {@inheritDoc} While the script holds the connection without reading, it is read off the kernel's table: its
     * CLOSE_WAIT is a FIN, its absence an RST.
     */
    @Override
    public Ending ending() {
        Ending seen = super.ending();
        if (!holding || seen == Ending.RST) {
            return seen;
        }
        return switch (kernelState()) {
            case CLOSE_WAIT, LAST_ACK, CLOSING, TIME_WAIT -> Ending.FIN;
            case CLOSE -> Ending.RST;
            case ESTABLISHED, SYN_SENT, SYN_RECV, FIN_WAIT1, FIN_WAIT2, LISTEN, NEW_SYN_RECV -> seen;
        };
    }

    /** Whether the script has run to its end and the socket is closed. */
    public boolean isDone() {
        return done.getCount() == 0;
    }

    /** What ended the script early: the other side's leaving (a {@link PeerGoneException}), or a fault of the script. */
    public Optional<Throwable> scriptEnd() {
        return Optional.ofNullable(scriptEnd);
    }

    @Override
    public void close() {
        super.close();
        released.countDown();
    }

    void run(Script script) {
        try {
            script.run(this);
        } catch (IOException | RuntimeException | AssertionError e) {
            scriptEnd = e;
        } finally {
            close();
            done.countDown();
        }
    }
}
