package dev.tidegate.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.opentest4j.TestAbortedException;

class ToolTest {
    private static final Duration BOUND = Duration.ofSeconds(10);

    @RegisterExtension
    final InvariantsExtension invariants = new InvariantsExtension();

    @Test
    void runGivesExitCodeAndBothOutputs() {
        Tool.Result result = Tool.require("sh").run(BOUND, "-c", "echo out; echo err >&2; exit 3");
        assertEquals(new Tool.Result(3, "out\n", "err\n"), result);
    }

    @Test
    void missingToolSkipsTheTestUnlessToolsAreRequired() {
        String before = System.setProperty("tidegate.tools", "required");
        try {
            assertThrows(AssertionError.class, () -> Tool.require("no-such-tool-anywhere"));
            System.setProperty("tidegate.tools", "optional");
            if (!"true".equals(System.getenv("CI"))) {
                assertThrows(TestAbortedException.class, () -> Tool.require("no-such-tool-anywhere"));
            }
        } finally {
            if (before == null) {
                System.clearProperty("tidegate.tools");
            } else {
                System.setProperty("tidegate.tools", before);
            }
        }
    }

    @Test
    void toolThatDoesNotEndIsEndedAfterItsBound() {
        AssertionError late =
                assertThrows(AssertionError.class, () -> Tool.require("sleep").run(Duration.ofMillis(50), "60"));
        assertTrue(late.getMessage().startsWith("still running after 50 ms"), late.getMessage());
    }

    @Test
    void closeEndsTheProcessAndRemovesItsDirectory() {
        RunningTool running = Tool.require("sleep").start("60");
        Path directory = running.directory();
        running.close();
        assertFalse(running.isAlive());
        assertFalse(Files.exists(directory));
    }

    @Test
    void serverThatNeverListensIsReportedWithItsOutput() {
        AssertionError deaf = assertThrows(
                AssertionError.class,
                () -> Tool.require("sh").listen(port -> List.of("-c", "echo will not >&2; exit 1")));
        assertTrue(deaf.getMessage().contains("will not"), deaf.getMessage());
    }

    @Test
    void nginxAnswersHttp() {
        RealNginx nginx = invariants.peer(RealNginx.http("hello"));
        Tool.Result result = Tool.require("curl").run(BOUND, "-sS", "http://" + HostPort.of(nginx.address()));
        assertEquals(new Tool.Result(0, "hello", ""), result);
        result = Tool.require("curl").run(BOUND, "-sS", "http://" + HostPort.of(nginx.address()) + "/files/nginx.conf");
        assertTrue(result.stdout().contains("master_process off"), result::toString);
    }

    @Test
    void nginxAnswersHttp2InCleartext() {
        RealNginx nginx = invariants.peer(RealNginx.http2("hello"));
        Tool.Result result =
                Tool.require("curl").run(BOUND, "-sS", "--http2-prior-knowledge", "-w", " %{http_version}", url(nginx));
        assertEquals(new Tool.Result(0, "hello 2", ""), result);
    }

    @Test
    void nginxAndHaproxyTellTheClientThatTheProxyHeaderNames() throws Exception {
        RealNginx nginx = invariants.peer(RealNginx.tellingProxiedClient());
        RealHaproxy haproxy = invariants.peer(RealHaproxy.tellingProxiedClient());
        for (var address : List.of(nginx.address(), haproxy.address())) {
            ScriptedClient client = invariants.peer(ScriptedClient.connect(address));
            client.send("PROXY TCP4 192.0.2.7 192.0.2.8 4711 80\r\nGET / HTTP/1.0\r\n\r\n");
            client.readToEnd();
            assertTrue(client.firstText().endsWith("\r\n\r\n192.0.2.7:4711"), client.firstText());
        }
    }

    @Test
    void nginxAndHaproxyForwardTcpAndReachTheBackendOnlyForAClient() throws Exception {
        ScriptedBackend backend = invariants.peer(ScriptedBackend.echo());
        RealNginx nginx = invariants.peer(RealNginx.stream(backend.address()));
        RealHaproxy haproxy = invariants.peer(RealHaproxy.tcp(backend.address()));
        assertEquals(0, backend.connections().size());
        for (var address : List.of(nginx.address(), haproxy.address())) {
            ScriptedClient client = invariants.peer(ScriptedClient.connect(address));
            client.sendSeeded(1, 100_000);
            client.shutdownOutput();
            assertEquals(new End(End.Kind.FIN, 100_000, SeededStream.sha256(1, 100_000)), client.readToEnd());
        }
        assertEquals(2, backend.connections().size());
    }

    private static String url(RealNginx nginx) {
        return "http://" + HostPort.of(nginx.address());
    }
}
