package dev.tidegate.cli;

import java.io.IOException;
import java.io.Serial;

/** The process was asked to stop before it took over from another one, which goes on: there is nothing to start any more. */
final class AskedToStopException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    AskedToStopException() {
        super("asked to stop before it took over; the running process goes on");
    }
}
