package dev.tidegate.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * One of the things compared, running: a proxy before the backend, or the backend itself. Immutable.
 *
 * @param name what it is called in options and tables
 * @param address where load goes
 * @param process what was started; null for the backend itself
 * @param pid the process whose CPU and memory count: nginx's worker, else what was started; 0 for the backend itself
 * @param isJvm whether it needs warming, and a garbage collection before its memory is read
 * @param command how it was started, for the record
 */
record Subject(String name, InetSocketAddress address, Process process, long pid, boolean isJvm, List<String> command) {
    static final String DIRECT = "direct";
    static final String HAPROXY = "haproxy";
    static final String NGINX = "nginx";

    static Subject direct(InetSocketAddress backend) {
        return new Subject(DIRECT, backend, null, 0, false, List.of());
    }

    boolean isDirect() {
        return process == null;
    }

    void checkAlive() throws IOException {
        if (process != null && !process.isAlive()) {
            throw new IOException(name + " has ended by itself with exit code " + process.exitValue());
        }
    }
}
