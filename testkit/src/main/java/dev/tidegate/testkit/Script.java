package dev.tidegate.testkit;

import java.io.IOException;

/**
 * What a {@link ScriptedBackend} does with one connection; {@link Scripts} has the common ones.
 *
 * <pre>{@code
 * Script shy = c -> {
 *     c.readExactly(3);
 *     c.send("no");
 *     c.reset();
 * };
 * }</pre>
 *
 * <p>Runs on a thread of its own; the socket is closed when it returns. An {@link IOException} ends it in peace (the
 * client went away); anything else it throws comes out of {@link ScriptedBackend#close()}.
 */
@FunctionalInterface
public interface Script {
    /** Runs to the connection's end. */
    void run(ScriptedConnection connection) throws IOException;

    /** This, and when it has returned, {@code next} on the same connection. */
    default Script then(Script next) {
        return connection -> {
            run(connection);
            next.run(connection);
        };
    }
}
