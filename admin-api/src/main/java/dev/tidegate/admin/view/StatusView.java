package dev.tidegate.admin.view;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The process.
 *
 * @param version of the build
 * @param pid of the process
 * @param state {@code starting}, {@code ready}, {@code draining} or {@code stopping}
 * @param started when
 * @param uptimeMs since then, in milliseconds
 * @param generation of the configuration in force
 * @param config the main configuration file; null when there is none
 * @param transport what does the I/O
 * @param transportReason why that one
 * @param workers each
 * @param connections open now
 * @param maxConnections the most at a time
 * @param logLevel how much is logged
 * @param reloads by result
 * @param ages open connections by age
 * @param operations those under way
 */
public record StatusView(
        String version,
        long pid,
        String state,
        Instant started,
        long uptimeMs,
        long generation,
        @MayBeNull String config,
        String transport,
        String transportReason,
        List<WorkerView> workers,
        int connections,
        int maxConnections,
        String logLevel,
        Map<String, Long> reloads,
        List<AgeBucket> ages,
        List<OperationView> operations) {}
