package dev.tidegate.testkit;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A port for what must know its port before it listens: external tools that cannot say which one the kernel gave them, and
 * listeners that move and come back. Everything else binds port 0.
 *
 * <p>Taken from below the range out of which the kernel gives ports to outgoing connections, so that none of these can have
 * it a moment later; and each test JVM begins elsewhere in it. Someone else may still be quicker: start tools by
 * {@link Tool#listen}, which tries again with another port.
 */
public final class FreePort {
    private static final int FIRST = 10_240;
    private static final int COUNT = 20_000;

    /** Far enough apart that JVMs with neighbouring process numbers do not meet. */
    private static final int STEP_OF_A_PROCESS = 997;

    private static final AtomicInteger next =
            new AtomicInteger((int) (ProcessHandle.current().pid() * STEP_OF_A_PROCESS % COUNT));

    private FreePort() {}

    /** A port that nobody listens on just now, at any address. */
    public static int pick() {
        for (int tries = 0; tries < COUNT; tries++) {
            int port = FIRST + Math.floorMod(next.getAndIncrement(), COUNT);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no port from " + FIRST + " on can be bound");
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1)) {
            return probe.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
