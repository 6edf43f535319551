package dev.tidegate.simulation;

import java.util.random.RandomGenerator;

/** A client whose protocol the balancer does not know. One request after the other. */
final class OpaqueClient extends SimClient {
    private final int id;
    private int number;
    private int wanted; // of the answer under way
    private int got;
    private boolean owed;
    private long askedNanos;

    OpaqueClient(Crowd crowd, SimNetwork network, RandomGenerator random, int id, Temper temper) {
        super(crowd, network, random, id, temper);
        this.id = id;
    }

    @Override
    Speech speech() {
        return Speech.OPAQUE;
    }

    @Override
    void greet() {
        // The first request says it all.
    }

    @Override
    boolean canAsk() {
        return !owed;
    }

    @Override
    void ask(int next, int answerBytes) {
        number = next;
        wanted = 1 + answerBytes;
        got = 0;
        owed = true;
        askedNanos = sendReturningArrival(Talk.request(id, number, wanted));
    }

    @Override
    void understand(byte[] bytes) {
        Talk.checkAnswer(bytes, id, number, got, this);
        got += bytes.length;
        if (got > wanted || !owed) {
            throw new AssertionError(got + " bytes for " + wanted + ": " + this);
        }
        if (got == wanted) {
            owed = false;
            goOn();
        }
    }

    @Override
    boolean isOwed() {
        return owed;
    }

    @Override
    boolean isBegun() {
        return got > 0;
    }

    @Override
    long owedSinceNanos() {
        return askedNanos;
    }
}
