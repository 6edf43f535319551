package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedClient;

/** A client that never stops to talk. */
final class PeerTalk {
    private static final long BOUND_NANOS = 20_000_000_000L;

    private PeerTalk() {}

    /** Says something, and waits for its echo, again and again, until the connection is gone. */
    static PeerGoneException untilGone(ScriptedClient client) {
        long begin = System.nanoTime();
        return assertThrows(PeerGoneException.class, () -> {
            while (System.nanoTime() - begin < BOUND_NANOS) {
                client.send("ping");
                client.readText(4);
            }
        });
    }
}
