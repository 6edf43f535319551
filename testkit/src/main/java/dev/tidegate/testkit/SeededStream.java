package dev.tidegate.testkit;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An endless byte stream that is the same for the same seed.
 *
 * <pre>{@code
 * client.sendSeeded(42, 1 << 20);
 * assertEquals(SeededStream.sha256(42, 1 << 20), backend.connection(0).sha256());
 * }</pre>
 *
 * <p>Eight bytes at a time are the SplitMix64 output of (seed, index), so any position is reached without what comes
 * before it. Not safe for use by several threads at once.
 */
public final class SeededStream {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long GAMMA = 0x9E3779B97F4A7C15L;
    private static final int CHUNK_BYTES = 64 * 1024;

    private final long seed;
    private long position;

    /** A stream at position 0. */
    public SeededStream(long seed) {
        this.seed = seed;
    }

    /** The first {@code bytes} of the stream of {@code seed}. */
    public static byte[] bytes(long seed, int bytes) {
        byte[] out = new byte[bytes];
        new SeededStream(seed).fill(out, 0, bytes);
        return out;
    }

    /** SHA-256, in lower-case hex, of the first {@code bytes} of the stream of {@code seed}. */
    public static String sha256(long seed, long bytes) {
        SeededStream stream = new SeededStream(seed);
        RunningHash hash = new RunningHash();
        byte[] chunk = new byte[CHUNK_BYTES];
        for (long left = bytes; left > 0; ) {
            int length = (int) Math.min(left, chunk.length);
            stream.fill(chunk, 0, length);
            hash.update(chunk, 0, length);
            left -= length;
        }
        return hash.hex();
    }

    /** Bytes given out so far. */
    public long position() {
        return position;
    }

    /** Goes to {@code newPosition}, counted from the start; any position, at no cost. */
    public void seek(long newPosition) {
        position = newPosition;
    }

    /** Writes the next {@code length} bytes into {@code target} from {@code offset}. */
    public void fill(byte[] target, int offset, int length) {
        int at = offset;
        int end = offset + length;
        while (at < end && (position & 7) != 0) {
            target[at++] = byteAt(position++);
        }
        long state = seed + (position >>> 3) * GAMMA;
        for (; at + 8 <= end; at += 8) {
            LONGS.set(target, at, mix(state));
            state += GAMMA;
            position += 8;
        }
        while (at < end) {
            target[at++] = byteAt(position++);
        }
    }

    /**
     * Compares {@code length} bytes of {@code actual} from {@code offset} with the next ones of this stream and moves on.
     *
     * @return the position in the stream of the first byte that differs, or -1
     */
    public long mismatch(byte[] actual, int offset, int length) {
        long start = position;
        byte[] expected = new byte[length];
        fill(expected, 0, length);
        int at = Arrays.mismatch(expected, 0, length, actual, offset, offset + length);
        return at < 0 ? -1 : start + at;
    }

    private byte byteAt(long at) {
        return (byte) (mix(seed + (at >>> 3) * GAMMA) >>> ((at & 7) << 3));
    }

    private static long mix(long state) {
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    @Override
    public String toString() {
        return "SeededStream[seed=" + seed + ", position=" + position + "]";
    }
}
