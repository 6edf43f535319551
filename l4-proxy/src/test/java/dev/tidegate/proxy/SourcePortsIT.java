package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** varnish/hitch#213, apache/trafficserver#3751: no source port was left, and it looked like an empty answer. */
class SourcePortsIT {
    private static final Pattern WAITS = Pattern.compile(" waits=(\\d+)$");

    @ParameterizedTest
    @ValueSource(strings = {"IO_URING", "EPOLL", "NIO"})
    void withoutASourcePortTheClientIsResetQuicklyWithAReasonOfItsOwn(String transport) throws Exception {
        assertEquals(
                "served=20 reset=5 dial-failed=5 quick=true", run("50000 50019", SourcePorts.class, transport, "1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"IO_URING", "EPOLL", "NIO"})
    void withoutASourcePortToOneEndpointTheOthersAreTried(String transport) throws Exception {
        assertEquals(
                "served=25 reset=0 dial-failed=0 quick=true", run("50000 50019", SourcePorts.class, transport, "2"));
    }

    /**
     * zhouchangxun/ngx_healthcheck_module#69: checks of many servers left so many sockets in TIME_WAIT that no source port
     * was left. More of them than there are ports are nothing to connections, or to other endpoints' checks.
     */
    @ParameterizedTest
    @CsvSource({"EPOLL, 'close: fin, source: 127.0.0.1'", "NIO, close: fin"})
    @Tag("slow")
    void whereChecksHaveLeftMoreWaitsThanThereAreSourcePortsAllAreServed(String transport, String keys)
            throws Exception {
        String said = run("50000 50999", CheckedPorts.class, transport, keys, "3", "1000");

        assertTrue(said.startsWith("served=1000 of=1000 retries=0 checks-failed=0 "), said);
        assertTrue(waits(said) > 1_000, said);
    }

    /** zhouchangxun/ngx_healthcheck_module#69: and this way none is left. */
    @Test
    @Tag("slow")
    void checksThatEndByResetLeaveNoWaitsAndAllAreServed() throws Exception {
        String said =
                run("50000 50999", CheckedPorts.class, "IO_URING", "close: reset, source: 127.0.0.1", "3", "1000");

        assertEquals("served=1000 of=1000 retries=0 checks-failed=0 waits=0", said);
    }

    /**
     * zhouchangxun/ngx_healthcheck_module#69, for as long as it takes until as many waits end as begin: 60 of each
     * endpoint, which are more than the usual number of ports.
     */
    @ParameterizedTest
    @ValueSource(strings = {"close: fin", "close: fin, source: 127.0.0.1"})
    @Tag("nightly")
    void checksOfFiveHundredEndpointsForTwoMinutesLeaveSixtyWaitsOfEachAndAllAreServed(String keys) throws Exception {
        String said = run("32768 60999", CheckedPorts.class, "EPOLL", keys, "120", "20000");

        System.out.println("500 endpoints, {" + keys + "}: " + said);
        assertTrue(said.startsWith("served=20000 of=20000 retries=0 checks-failed=0 "), said);
        assertTrue(waits(said) > 28_232 && waits(said) <= 33_000, said);
    }

    private static long waits(String said) {
        Matcher found = WAITS.matcher(said);
        assertTrue(found.find(), said);
        return Long.parseLong(found.group(1));
    }

    /** What that program says in a network namespace of its own with those source ports. */
    private static String run(String ports, Class<?> program, String... arguments)
            throws IOException, InterruptedException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(
                "unshare",
                "-rn",
                "sh",
                "-c",
                "ip link set lo up && echo " + ports + " > /proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"",
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath,
                program.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
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
