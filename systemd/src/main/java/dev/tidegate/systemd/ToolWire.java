package dev.tidegate.systemd;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The tool {@code systemd-notify}, for where Netty's native library cannot be loaded. A process for each message, and that
 * process's messages: systemd believes them only if the unit has {@code NotifyAccess=all}, or if this runs as root.
 */
final class ToolWire implements Wire {
    /** So long a message may take. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    private final String tool;
    private final Duration patience;

    /**
     * @param tool its path
     * @param patience how long it may take for a message
     */
    ToolWire(String tool, Duration patience) {
        this.tool = tool;
        this.patience = patience;
    }

    @Override
    public boolean trySend(String message) throws IOException {
        List<String> command = new ArrayList<>(List.of(tool));
        command.addAll(Arrays.asList(message.split("\n", -1)));
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException(tool + " did not end within " + patience.toMillis() + " ms");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + tool + " ran", e);
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            throw new IOException(tool + " failed with exit code " + process.exitValue());
        }
        return true;
    }

    @Override
    public void close() {
        // Nothing is held between messages.
    }
}
