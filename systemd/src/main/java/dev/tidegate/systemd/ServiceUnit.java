package dev.tidegate.systemd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The unit that this process runs as. Immutable.
 *
 * @param name with its suffix, such as {@code tidegate.service}
 * @param ofUser whether a user's manager runs it, and not the system's
 */
public record ServiceUnit(String name, boolean ofUser) {
    private static final Logger log = LoggerFactory.getLogger(ServiceUnit.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** The unit of this process; empty when it is in none. Reads a file of the kernel's. */
    public static Optional<ServiceUnit> ofThisProcess() {
        try {
            return in(Files.readString(Path.of("/proc/self/cgroup")));
        } catch (IOException noProc) {
            log.debug("no control group to read", noProc);
            return Optional.empty();
        }
    }

    /** The innermost service in the text of {@code /proc/PID/cgroup}. */
    static Optional<ServiceUnit> in(String groups) {
        Optional<ServiceUnit> found = Optional.empty();
        for (String line : groups.lines().toList()) {
            // 0::/system.slice/tidegate.service, or with hierarchies of version 1 name=systemd in the middle
            String[] fields = line.split(":", 3);
            if (fields.length < 3 || (!fields[1].isEmpty() && !fields[1].equals("name=systemd"))) {
                continue;
            }
            boolean ofUser = false;
            for (String part : fields[2].split("/", -1)) {
                boolean manager = part.startsWith("user@");
                ofUser |= manager;
                if (part.endsWith(".service") && !manager) {
                    found = Optional.of(new ServiceUnit(part, ofUser));
                }
            }
        }
        return found;
    }

    /**
     * How long a stop of the unit may take before its processes are killed ({@code TimeoutStopSec}); without an end it is
     * longer than any other time. Asks {@code systemctl}, which takes a while, and at most 5 s.
     *
     * @return empty when it cannot be found out
     */
    public Optional<Duration> stopTimeout() {
        return stopTimeout("systemctl", PATIENCE);
    }

    Optional<Duration> stopTimeout(String systemctl, Duration patience) {
        List<String> command = new ArrayList<>(List.of(systemctl));
        if (ofUser) {
            command.add("--user");
        }
        command.addAll(List.of("show", "--property", "TimeoutStopUSec", "--value", "--", name));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                process.getOutputStream().close();
                if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS) || process.exitValue() != 0) {
                    return Optional.empty();
                }
                // A line, which the pipe holds whole.
                return TimeSpan.parse(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException noTool) {
            log.debug("the unit's TimeoutStopSec is not known", noTool);
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
