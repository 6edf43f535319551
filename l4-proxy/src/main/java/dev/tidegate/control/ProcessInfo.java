package dev.tidegate.control;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * What does not change about a process. Immutable.
 *
 * @param version of the build
 * @param pid of the process
 * @param config the main configuration file; empty when there is none
 * @param transport what does the I/O
 * @param transportReason why that one
 * @param started when
 */
public record ProcessInfo(
        String version, long pid, Optional<Path> config, String transport, String transportReason, Instant started) {}
