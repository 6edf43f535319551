package dev.tidegate.simulation;

import java.util.random.RandomGenerator;

/**
 * What a client is like.
 *
 * @param manner how it ends
 * @param slow it reads what comes a while later
 * @param eager it asks again before it is answered
 * @param stubborn told that its connection ends, it does not end it itself; on HTTP/2 it even goes on to ask
 * @param requests how many it has to make
 */
record Temper(Manner manner, boolean slow, boolean eager, boolean stubborn, int requests) {
    /** How a client ends. */
    enum Manner {
        /** After its last answer. */
        POLITE,
        /** It ends its side with the last request, and reads on. */
        HASTY,
        /** It stays until it is sent away. */
        LASTING,
        /** It goes without a word, at any time. */
        RUDE
    }

    static Temper draw(RandomGenerator random) {
        return new Temper(
                Manner.values()[random.nextInt(Manner.values().length)],
                random.nextInt(4) == 0,
                random.nextInt(4) == 0,
                random.nextInt(4) == 0,
                1 + random.nextInt(8));
    }

    /** The same one with so many requests left. */
    Temper left(int now) {
        return new Temper(manner, slow, eager, stubborn, now);
    }
}
