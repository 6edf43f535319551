package dev.tidegate.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * A port for external tools that cannot say which one the kernel gave them. Everything else binds port 0.
 *
 * <p>The port was free a moment ago; someone else may get it before the tool does. So start tools by
 * {@link Tool#listen}, which tries again with another port.
 */
public final class FreePort {
    private FreePort() {}

    /** A port of 127.0.0.1 that nobody listened on just now. */
    public static int pick() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException("no port of 127.0.0.1 can be bound", e);
        }
    }
}
