package dev.tidegate.cli;

import io.netty.util.internal.PlatformDependent;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What memory a number of connections needs, against what the JVM was given. Immutable.
 *
 * @param heapBytes the most heap
 * @param directBytes the most direct memory
 */
record MemoryNeed(long heapBytes, long directBytes) {
    private static final Logger log = LoggerFactory.getLogger(MemoryNeed.class);

    /** Of an idle connection, with some room: 3.4 to 5.5 kB were measured, see docs/performance.md. */
    static final long HEAP_BYTES_EACH = 6 * 1024;

    /** Of the heap, for all that is no connection. */
    static final long HEAP_BYTES_BESIDE = 48 * 1024 * 1024;

    /** What one read of one direction takes; a connection that is silent has none of it. */
    static final long DIRECT_BYTES_EACH = 32 * 1024;

    private static final long MIB = 1024 * 1024;

    /** What this JVM was given. */
    static MemoryNeed ofThisProcess() {
        return new MemoryNeed(Runtime.getRuntime().maxMemory(), PlatformDependent.maxDirectMemory());
    }

    /** So many connections, or as many as the heap carries if that is less; then a line says so. */
    int carried(int connections) {
        int most = heapCarries();
        if (connections <= most) {
            return connections;
        }
        log.info(
                "process.max-connections: auto is {}, what {} of heap carry ({} bytes a connection); file descriptors would do for {}",
                most,
                mib(heapBytes),
                HEAP_BYTES_EACH,
                connections);
        return most;
    }

    private int heapCarries() {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, (heapBytes - HEAP_BYTES_BESIDE) / HEAP_BYTES_EACH));
    }

    /** What does not fit with so many connections: a line each, none when all does. */
    List<String> complaints(int connections) {
        List<String> lines = new ArrayList<>();
        long heap = HEAP_BYTES_BESIDE + connections * HEAP_BYTES_EACH;
        if (heap > heapBytes) {
            lines.add("process.max-connections: " + connections + " may need " + mib(heap) + " of heap ("
                    + HEAP_BYTES_EACH
                    + " bytes a connection), there are " + mib(heapBytes)
                    + ", and a JVM without heap ends; raise it (TIDEGATE_JAVA_OPTS=-Xmx" + roundUp(heap) + "m) or take "
                    + heapCarries() + " at most");
        }
        long direct = connections * DIRECT_BYTES_EACH;
        if (direct > directBytes) {
            lines.add("process.max-connections: " + connections + " need " + mib(direct)
                    + " of direct memory when all move bytes at once (" + DIRECT_BYTES_EACH
                    + " bytes a connection), there are " + mib(directBytes)
                    + "; what comes when it is used up ends with \"overload\"; raise it"
                    + " (TIDEGATE_JAVA_OPTS=-XX:MaxDirectMemorySize=" + roundUp(direct)
                    + "m) if most are busy at the same time");
        }
        return lines;
    }

    private static String mib(long bytes) {
        return roundUp(bytes) + " MiB";
    }

    private static long roundUp(long bytes) {
        return (bytes + MIB - 1) / MIB;
    }
}
