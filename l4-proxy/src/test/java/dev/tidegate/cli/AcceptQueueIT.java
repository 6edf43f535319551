package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * After many connections, many at once and a time without descriptors, accepting goes on as before, and no queue ever
 * overflows: netty/netty#14819, netty/netty#15502.
 */
class AcceptQueueIT {
    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("slow")
    void aTimeWithoutDescriptorsLeavesAcceptingAsItWas(String transport) throws Exception {
        assertEquals("all served, overflows=0", run(transport, 300, 200));
    }

    @ParameterizedTest
    @ValueSource(strings = {"io_uring", "epoll", "nio"})
    @Tag("nightly")
    void aTimeWithoutDescriptorsAmongTwentyThousandConnectsLeavesAcceptingAsItWas(String transport) throws Exception {
        assertEquals("all served, overflows=0", run(transport, 10_000, 2_000));
    }

    private static String run(String transport, int oneAfterAnother, int atOnce) throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process process = new ProcessBuilder(List.of(
                        "unshare",
                        "-rn",
                        "sh",
                        "-c",
                        "ip link set lo up && exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx1g", // its endpoint remembers every connection
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        AcceptQueue.class.getName(),
                        transport,
                        Integer.toString(oneAfterAnother),
                        Integer.toString(atOnce)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0 ? out : "failed: " + out;
        } finally {
            process.destroyForcibly();
        }
    }
}
