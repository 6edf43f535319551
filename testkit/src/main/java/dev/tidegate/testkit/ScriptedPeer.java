package dev.tidegate.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * One end of a real TCP connection, driven by blocking calls, with a record of what came in.
 *
 * <p>Plain JDK sockets on purpose: a fault of Netty must not hide behind the same fault in the tests' peer. The calls are
 * for one thread at a time (one may read while another writes); the record may be read by any thread. Where a bound is
 * set it is a bound on standstill: a call fails with an {@link AssertionError} when no byte moved for that long.
 */
public abstract sealed class ScriptedPeer implements AutoCloseable permits ScriptedClient, ScriptedConnection {
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int FIRST_BYTES = 4096;
    private static final Duration NO_BOUND = Duration.ZERO;

    private final SocketChannel channel;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final Duration bound;
    private final Watchdog watchdog;
    private final RunningHash hash = new RunningHash();
    private final AtomicLong bytesReceived = new AtomicLong();
    private final AtomicLong bytesSent = new AtomicLong();
    private final byte[] first = new byte[FIRST_BYTES];
    private volatile Ending ending = Ending.OPEN; // writer: whichever thread drives the peer

    ScriptedPeer(SocketChannel channel, Duration bound) throws IOException {
        this.channel = channel;
        this.bound = bound;
        this.watchdog = new Watchdog(channel);
        local = (InetSocketAddress) channel.getLocalAddress();
        remote = (InetSocketAddress) channel.getRemoteAddress();
        channel.socket().setSoTimeout(Math.toIntExact(bound.toMillis()));
    }

    // The record.

    /** This end's address. */
    public InetSocketAddress localAddress() {
        return local;
    }

    /** The other end's address. */
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    /** Bytes read so far. */
    public long bytesReceived() {
        return bytesReceived.get();
    }

    /** Bytes handed to the kernel so far. */
    public long bytesSent() {
        return bytesSent.get();
    }

    /** SHA-256 of all bytes read so far, lower-case hex. */
    public String sha256() {
        return hash.hex();
    }

    /** The first bytes read, at most 4,096. */
    public byte[] firstBytes() {
        synchronized (first) {
            return Arrays.copyOf(first, (int) Math.min(bytesReceived.get(), first.length));
        }
    }

    /** {@link #firstBytes()} as ISO-8859-1 text. */
    public String firstText() {
        return new String(firstBytes(), StandardCharsets.ISO_8859_1);
    }

    /** How the other side ended it, as seen by reading or writing; {@link Ending#OPEN} while nothing was noticed. */
    public Ending ending() {
        return ending;
    }

    /** The state that the kernel reports; {@link Sockets.State#CLOSE} when it no longer lists the connection. */
    public Sockets.State kernelState() {
        return Sockets.find(local, remote).map(Sockets.Entry::state).orElse(Sockets.State.CLOSE);
    }

    // Reading.

    /**
     * Reads at least one byte.
     *
     * @return the number of bytes read, or -1 at the other side's FIN
     * @throws PeerGoneException on its RST
     */
    public int read(byte[] target) throws IOException {
        return read(target, 0, target.length);
    }

    /** Reads exactly {@code bytes}; a {@link PeerGoneException} tells how many came when the end was earlier. */
    public byte[] readExactly(int bytes) throws IOException {
        byte[] out = new byte[bytes];
        for (int at = 0; at < bytes; ) {
            int count = read(out, at, bytes - at);
            if (count < 0) {
                throw new PeerGoneException(Ending.FIN, this + ": expected " + bytes + " bytes, FIN came after " + at);
            }
            at += count;
        }
        return out;
    }

    /** {@link #readExactly} as ISO-8859-1 text. */
    public String readText(int bytes) throws IOException {
        return new String(readExactly(bytes), StandardCharsets.ISO_8859_1);
    }

    /** Reads and drops until {@code bytes} have come; for more than fits in an array. */
    public void skip(long bytes) throws IOException {
        byte[] chunk = new byte[CHUNK_BYTES];
        for (long left = bytes; left > 0; ) {
            int count = read(chunk, 0, (int) Math.min(left, chunk.length));
            if (count < 0) {
                throw new PeerGoneException(
                        Ending.FIN, this + ": expected " + bytes + " bytes, FIN came after " + (bytes - left));
            }
            left -= count;
        }
    }

    /**
     * Reads until FIN, RST or the peer's bound: that long without a byte, or twelve times that in all.
     *
     * @return how it ended, with the count and hash of what this call read
     */
    public End readToEnd() throws IOException {
        return readToEnd(bound, bound.multipliedBy(12));
    }

    /** {@link #readToEnd()} that gives up (kind TIMEOUT) when {@code total} has passed, progress or not. */
    public End readToEnd(Duration total) throws IOException {
        return readToEnd(total, total);
    }

    private End readToEnd(Duration still, Duration total) throws IOException {
        RunningHash part = new RunningHash();
        byte[] chunk = new byte[CHUNK_BYTES];
        long deadlineNanos = System.nanoTime() + total.toNanos();
        long bytes = 0;
        try {
            while (true) {
                int count = read(chunk, 0, chunk.length, sooner(still, total, deadlineNanos));
                if (count < 0) {
                    return new End(End.Kind.FIN, bytes, part.hex());
                }
                part.update(chunk, 0, count);
                bytes += count;
            }
        } catch (PeerGoneException e) {
            return new End(End.Kind.RST, bytes, part.hex());
        } catch (SocketTimeoutException e) {
            return new End(End.Kind.TIMEOUT, bytes, part.hex());
        }
    }

    private static Duration sooner(Duration still, Duration total, long deadlineNanos) throws SocketTimeoutException {
        if (total.isZero()) {
            return NO_BOUND;
        }
        Duration left = Duration.ofNanos(deadlineNanos - System.nanoTime());
        if (left.toMillis() <= 0) {
            throw new SocketTimeoutException("no end within " + Await.words(total));
        }
        return left.compareTo(still) < 0 ? left : still;
    }

    private int read(byte[] target, int offset, int length) throws IOException {
        try {
            return read(target, offset, length, bound);
        } catch (SocketTimeoutException e) {
            throw new AssertionError(
                    this + ": nothing to read for " + Await.words(bound) + ", after " + bytesReceived + " bytes", e);
        }
    }

    private int read(byte[] target, int offset, int length, Duration readBound) throws IOException {
        try {
            channel.socket().setSoTimeout(Math.toIntExact(readBound.toMillis()));
            int count = channel.socket().getInputStream().read(target, offset, length);
            if (count < 0) {
                sawEnding(Ending.FIN);
            } else {
                record(target, offset, count);
            }
            return count;
        } catch (SocketException e) {
            throw asEnding(e);
        }
    }

    private void record(byte[] bytes, int offset, int length) {
        hash.update(bytes, offset, length);
        synchronized (first) {
            int at = (int) Math.min(bytesReceived.get(), first.length);
            System.arraycopy(bytes, offset, first, at, Math.min(length, first.length - at));
            bytesReceived.addAndGet(length);
        }
    }

    // Writing.

    /** Sends all of {@code bytes}. */
    public void send(byte[] bytes) throws IOException {
        send(bytes, 0, bytes.length);
    }

    /** Sends {@code text} as ISO-8859-1. */
    public void send(String text) throws IOException {
        send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Sends the first {@code bytes} of {@link SeededStream} {@code seed}. */
    public void sendSeeded(long seed, long bytes) throws IOException {
        SeededStream stream = new SeededStream(seed);
        byte[] chunk = new byte[CHUNK_BYTES];
        for (long left = bytes; left > 0; ) {
            int length = (int) Math.min(left, chunk.length);
            stream.fill(chunk, 0, length);
            send(chunk, 0, length);
            left -= length;
        }
    }

    /** Sends {@code bytes} as segments of one byte each (Nagle off), {@code pause} apart; zero for none. */
    public void sendSliced(byte[] bytes, Duration pause) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        for (int at = 0; at < bytes.length; at++) {
            send(bytes, at, 1);
            if (!pause.isZero()) {
                LockSupport.parkNanos(pause.toNanos());
            }
        }
    }

    /**
     * Sends the {@link SeededStream} of {@code seed} until the kernel has taken nothing for {@code stall}, or {@code most}
     * bytes are out: what a reader that does not read lets through.
     *
     * @return the number of bytes that the kernel took
     */
    public long sendUntilBlocked(long seed, long most, Duration stall) throws IOException {
        return sendUntilBlocked(seed, most, stall, null);
    }

    /**
     * The same, but a stall counts only when another follows on {@code chance}: what lets the reader take what it has not
     * had the time for, on a machine that is busy.
     */
    public long sendUntilBlocked(long seed, long most, Duration stall, Runnable chance) throws IOException {
        SeededStream stream = new SeededStream(seed);
        byte[] chunk = new byte[CHUNK_BYTES];
        ByteBuffer next = ByteBuffer.wrap(chunk).limit(0);
        long sent = 0;
        long movedNanos = System.nanoTime();
        boolean hadChance = chance == null;
        channel.configureBlocking(false);
        try {
            while (sent < most) {
                if (!next.hasRemaining()) {
                    int length = (int) Math.min(most - sent, chunk.length);
                    stream.seek(sent);
                    stream.fill(chunk, 0, length);
                    next.position(0).limit(length);
                }
                int count = channel.write(next);
                if (count > 0) {
                    sent += count;
                    bytesSent.addAndGet(count);
                    movedNanos = System.nanoTime();
                    hadChance = chance == null;
                } else if (System.nanoTime() - movedNanos < stall.toNanos()) {
                    LockSupport.parkNanos(200_000);
                } else if (hadChance) {
                    break;
                } else {
                    chance.run();
                    hadChance = true;
                    movedNanos = System.nanoTime();
                }
            }
        } catch (IOException e) {
            throw asEnding(e);
        } finally {
            if (channel.isOpen()) {
                channel.configureBlocking(true);
            }
        }
        return sent;
    }

    private void send(byte[] bytes, int offset, int length) throws IOException {
        Future<?> guard = bound.isZero() ? null : watchdog.arm(bound);
        try {
            ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, length);
            while (buffer.hasRemaining()) {
                bytesSent.addAndGet(channel.write(buffer));
            }
        } catch (IOException e) {
            if (watchdog.bitten()) {
                throw new AssertionError(
                        this + ": nothing could be sent for " + Await.words(bound) + ", after " + bytesSent + " bytes",
                        e);
            }
            throw asEnding(e);
        } finally {
            if (guard != null) {
                guard.cancel(false);
            }
        }
    }

    /** Waits until the other side's kernel has acknowledged all that was sent. */
    public void awaitAcknowledged() {
        Await.until(
                this + ": everything sent is acknowledged",
                () -> Sockets.find(local, remote)
                        .map(entry -> entry.sendQueueBytes() == 0)
                        .orElse(true));
    }

    // Ending.

    /** Sends FIN; reading goes on. */
    public void shutdownOutput() throws IOException {
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            throw asEnding(e);
        }
    }

    /** Ends it with RST; what was not yet acknowledged is lost. */
    public void reset() throws IOException {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        close();
    }

    /** Closes the socket: FIN, or RST where the kernel still holds unread bytes. Safe to repeat, from any thread. */
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(this + ": close failed", e);
        }
    }

    /** Whether this side still has its socket. */
    public boolean isOpen() {
        return channel.isOpen();
    }

    /** The socket itself, for options that have no verb here. */
    public SocketChannel channel() {
        return channel;
    }

    private IOException asEnding(IOException e) {
        String words = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        // EPIPE is how Linux words a reset that came after a FIN.
        if (words.contains("reset") || words.contains("broken pipe")) {
            sawEnding(Ending.RST);
            PeerGoneException gone = new PeerGoneException(
                    Ending.RST, this + ": RST came after " + bytesReceived + " bytes in, " + bytesSent + " out");
            gone.initCause(e);
            return gone;
        }
        return e;
    }

    private void sawEnding(Ending seen) {
        if (ending != Ending.RST) {
            ending = seen;
        }
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + local + " to " + remote + ", " + ending + "]";
    }
}
