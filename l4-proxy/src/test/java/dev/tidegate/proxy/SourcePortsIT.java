package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.testkit.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** varnish/hitch#213, apache/trafficserver#3751: no source port was left, and it looked like an empty answer. */
class SourcePortsIT {
    @ParameterizedTest
    @ValueSource(strings = {"IO_URING", "EPOLL", "NIO"})
    void withoutASourcePortTheClientIsResetQuicklyWithAReasonOfItsOwn(String transport) throws Exception {
        assertEquals("served=20 reset=5 dial-failed=5 quick=true", run(transport, 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"IO_URING", "EPOLL", "NIO"})
    void withoutASourcePortToOneEndpointTheOthersAreTried(String transport) throws Exception {
        assertEquals("served=25 reset=0 dial-failed=0 quick=true", run(transport, 2));
    }

    private static String run(String transport, int endpoints) throws IOException, InterruptedException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process process = new ProcessBuilder(List.of(
                        "unshare",
                        "-rn",
                        "sh",
                        "-c",
                        "ip link set lo up && echo 50000 50019 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath,
                        SourcePorts.class.getName(),
                        transport,
                        Integer.toString(endpoints)))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (!process.waitFor(Await.BOUND.toMillis(), TimeUnit.MILLISECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("it did not end; it said " + out);
        }
        return process.exitValue() == 0 ? out : "exit " + process.exitValue() + ": " + out;
    }
}
