package dev.tidegate.simulation;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/** Answers in the protocol that the balancer does not know. */
final class OpaqueService extends Service {
    private int owed;

    OpaqueService(SimEndpoint endpoint, Link link, RandomGenerator random) {
        super(endpoint, link, random);
    }

    @Override
    void read() {
        while (inbox().size() >= Talk.REQUEST_BYTES) {
            byte[] bytes = inbox().take(Talk.REQUEST_BYTES);
            ByteBuffer request = ByteBuffer.wrap(bytes).position(1);
            int client = request.getInt();
            int number = request.getInt();
            int count = request.getInt();
            serves(client, bytes);
            took(number);
            owed++;
            afterAThought(() -> answer(client, number, 0, count));
        }
    }

    private void answer(int client, int number, int from, int count) {
        int piece = Math.min(PIECE_BYTES, count - from);
        send(Talk.answer(client, number, from, piece));
        if (from + piece < count) {
            afterAPause(() -> answer(client, number, from + piece, count));
        } else {
            owed--;
            endIfDone();
        }
    }

    @Override
    boolean isOwing() {
        return owed > 0;
    }
}
