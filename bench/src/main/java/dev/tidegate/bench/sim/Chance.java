package dev.tidegate.bench.sim;

import java.util.random.RandomGenerator;

/**
 * Randomness from a seed, the same on every JDK: what the JDK makes of its generators' bits has changed between versions.
 *
 * <p>Blackman and Vigna, xoroshiro128++ (2019), seeded by Steele's SplitMix64. Confined to one thread.
 */
final class Chance implements RandomGenerator {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private long a;
    private long b;

    /**
     * @param seed of the run
     * @param stream what of the run it is for: two policies under the same seed meet the same arrivals only if their picks
     *     come from a stream of their own
     */
    Chance(long seed, int stream) {
        long origin = mix(seed * GOLDEN + stream);
        a = mix(origin + GOLDEN);
        b = mix(origin + GOLDEN + GOLDEN);
    }

    private static long mix(long value) {
        long z = value;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    @Override
    public long nextLong() {
        long x = a;
        long y = b;
        long result = Long.rotateLeft(x + y, 17) + x;
        y ^= x;
        a = Long.rotateLeft(x, 49) ^ y ^ (y << 21);
        b = Long.rotateLeft(y, 28);
        return result;
    }

    @Override
    public long nextLong(long bound) {
        // The high half of a product of 63 bits: its bias, bound / 2^63, is beyond what any run could show.
        return Math.multiplyHigh(nextLong() >>> 1, bound << 1);
    }

    @Override
    public int nextInt(int bound) {
        return (int) nextLong(bound);
    }

    /** Above 0 and at most 1. */
    double share() {
        return 1 - nextDouble();
    }

    /** Exponential. */
    double exponential(double mean) {
        // StrictMath: Math may answer differently in interpreted and in compiled code.
        return -mean * StrictMath.log(share());
    }
}
