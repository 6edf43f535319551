package dev.tidegate.admin;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * What the admin server asks of the running proxy. Called on the thread {@code tidegate-admin}, so answers must come
 * without waiting.
 */
public interface ProxyOperations {
    /**
     * Whether connections should be sent here.
     *
     * @param frontend the frontend asked about; empty for all
     * @return the state of the process, with all frontends, or with the named one alone; with none when there is no
     *     frontend of that name
     */
    Readiness readiness(Optional<String> frontend);

    /**
     * Writes all metrics.
     *
     * @param format in which text
     * @param out where to; not to be closed
     * @throws IOException when {@code out} does
     */
    void writeMetrics(MetricsFormat format, OutputStream out) throws IOException;
}
