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

    /** Whether one begins with that byte. */
    static boolean isRequest(int first) {
        return (byte) first == MAGIC;
    }

    /** So much of the answer, from that place on. */
    static byte[] answer(int client, int number, int from, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = answerByte(client, number, from + i);
        }
        return bytes;
    }

    /** Checks that these bytes are of that answer, from that place on; {@code to} says whose it is. */
    static void checkAnswer(byte[] bytes, int client, int number, int from, Object to) {
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] != answerByte(client, number, from + i)) {
                throw new AssertionError(
                        "byte " + (from + i) + " of answer " + number + " is not what was sent: " + to);
            }
        }
    }

    static byte answerByte(int client, int number, int at) {
        return (byte) (31 * client + 17 * number + at);
    }
}
