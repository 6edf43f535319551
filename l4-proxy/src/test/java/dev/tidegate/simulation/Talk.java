package dev.tidegate.simulation;

import java.nio.ByteBuffer;

/** What clients and endpoints of a simulation say: requests and answers in a protocol that the balancer does not know. */
final class Talk {
    /** A request that says how much it wants. */
    static final int REQUEST_BYTES = 13;

    private static final byte MAGIC = (byte) 0xc0;

    private Talk() {}

    static byte[] request(int client, int number, int answerBytes) {
        return ByteBuffer.allocate(REQUEST_BYTES)
                .put(MAGIC)
                .putInt(client)
                .putInt(number)
                .putInt(answerBytes)
                .array();
    }

    /** So much of the answer, from that place on. */
    static byte[] answer(int client, int number, int from, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = answerByte(client, number, from + i);
        }
        return bytes;
    }

    static byte answerByte(int client, int number, int at) {
        return (byte) (31 * client + 17 * number + at);
    }
}
