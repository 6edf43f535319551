package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sockets that systemd keeps open and passes, in a process of its own. */
@Timeout(180)
class SocketActivationIT {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final String V4 = "web=AF_INET,SOCK_STREAM,127.0.0.1";
    private static final String V6 = "web=AF_INET6,SOCK_STREAM,::1";

    @TempDir
    Path directory;

    @Test
    @Tag("slow")
    void allSocketsOfANameAreServedByOneFrontendAndTheAdminSocketIsTheOneThatWasPassed() throws Exception {
        Path admin = directory.resolve("admin.sock");
        try (PassedSockets passed = PassedSockets.open(directory, V4, V6, "admin=AF_UNIX,SOCK_STREAM," + admin);
                ScriptedBackend backend = hello();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:web"))
                        .before(passed.starter())
                        .start()) {
            assertHello(passed.at(0, "127.0.0.1"));
            assertHello(passed.at(1, "::1"));
            tidegate.awaitErr("transport=epoll (auto: sockets from systemd)");
            tidegate.awaitErr("listening frontend=front listener=systemd:web bound=[::1]:");
            AdminCurl curl = new AdminCurl(admin);
            JsonNode listeners = curl.look("/v1/frontends/front").get("listeners");
            assertEquals(2, listeners.size(), listeners::toString);
            curl.call("PUT", "/v1/log-level", "{\"level\": \"debug\"}").expect(200); // whoever opens it is admin

            tidegate.signal("TERM");
            assertEquals(0, tidegate.awaitExit());
            assertTrue(Files.exists(admin, LinkOption.NOFOLLOW_LINKS), "the file of a passed socket is systemd's");
        }
    }

    @Test
    @Tag("slow")
    void whoComesWhileNoProcessRunsIsServedByTheNext() throws Exception {
        try (PassedSockets passed = PassedSockets.open(directory, V4);
                ScriptedBackend backend = hello();
                ScriptedClient early = ScriptedClient.connect(passed.at(0, "127.0.0.1"))) {
            try (TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:web"))
                    .before(passed.starter())
                    .start()) {
                assertTrue(tidegate.isAlive());
                assertEquals("hello", early.readText(5));
            }
        }
    }

    /** Envoy waits likewise, for its first addresses and checks, before it listens. */
    @Test
    @Tag("slow")
    void whoCameMeanwhileIsNotRefusedBecauseNoEndpointHasBeenCheckedYet() throws Exception {
        List<ScriptedClient> early = new ArrayList<>();
        try (PassedSockets passed = PassedSockets.open(directory, V4);
                ScriptedBackend backend = hello()) {
            for (int i = 0; i < 20; i++) {
                early.add(ScriptedClient.connect(passed.at(0, "127.0.0.1")));
            }
            String yaml = yaml(backend, "systemd:web")
                    .replace(
                            "{name: back, endpoints",
                            "{name: back, health: {type: tcp, initial: down, rise: 1}, panic: {mode: refuse}, endpoints");
            assertTrue(yaml.contains("refuse"), yaml);
            try (TidegateProcess tidegate = TidegateProcess.run(directory, yaml)
                    .before(passed.starter())
                    .start()) {
                assertTrue(tidegate.isAlive());
                for (ScriptedClient each : early) {
                    assertEquals("hello", each.readText(5));
                }
            }
        } finally {
            early.forEach(ScriptedClient::close);
        }
    }

    @Test
    @Tag("slow")
    void aNameThatWasNotPassedIsToldWithThoseThatWere() throws Exception {
        try (PassedSockets passed = PassedSockets.open(directory, V4, "api=AF_INET,SOCK_STREAM,127.0.0.1");
                ScriptedBackend backend = hello();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:wbe"))
                        .before(passed.starter())
                        .startOnly()) {
            assertEquals(Exit.FAILED, tidegate.awaitExit());
            assertEquals(
                    List.of(
                            "tidegate: frontend \"front\": systemd:wbe: no socket of that name was passed to this process;"
                                    + " passed were: web, api; name it by FileDescriptorName= in the socket unit, and start the"
                                    + " service again"),
                    tidegate.err());
        }
    }

    @Test
    @Tag("slow")
    void whatIsNoListeningStreamSocketIsRefused() throws Exception {
        try (PassedSockets passed = PassedSockets.open(directory, "web=AF_INET,SOCK_DGRAM,127.0.0.1");
                ScriptedBackend backend = hello();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:web"))
                        .before(passed.starter())
                        .startOnly()) {
            assertEquals(Exit.FAILED, tidegate.awaitExit());
            assertEquals(
                    List.of("tidegate: frontend \"front\": systemd:web: descriptor 3 is no stream socket; ListenStream="
                            + " makes one"),
                    tidegate.err());
        }
    }

    @Test
    @Tag("slow")
    void whatIsMeantForAnotherProcessIsLeftAlone() throws Exception {
        try (PassedSockets passed = PassedSockets.open(directory, V4);
                ScriptedBackend backend = hello();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:web"))
                        .before(passed.starter("1"))
                        .startOnly()) {
            assertEquals(Exit.FAILED, tidegate.awaitExit());
            assertTrue(tidegate.err().get(0).contains("none was"), tidegate.err()::toString);
        }
    }

    @Test
    @Tag("slow")
    void aSocketThatNobodyUsesIsToldOfAndResetsWhoComes() throws Exception {
        try (PassedSockets passed = PassedSockets.open(directory, V4, "api=AF_INET,SOCK_STREAM,127.0.0.1");
                ScriptedBackend backend = hello();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:web"))
                        .before(passed.starter())
                        .start()) {
            tidegate.awaitErr("socket from systemd not used name=api fd=");
            assertReset(passed.at(1, "127.0.0.1"));
        }
    }

    @Test
    @Tag("slow")
    void aFrontendThatGoesAndComesBackByReloadsHasItsSocketAgain() throws Exception {
        String other = "  - {name: other, listen: \"127.0.0.1:0\", backend: back}\n";
        try (PassedSockets passed = PassedSockets.open(directory, V4);
                ScriptedBackend backend = hello();
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(backend, "systemd:web", other))
                        .before(passed.starter())
                        .start()) {
            InetSocketAddress front = passed.at(0, "127.0.0.1");
            assertHello(front);

            reload(tidegate, yaml(backend, "127.0.0.1:0", other), 2);
            assertReset(front);

            reload(tidegate, yaml(backend, "systemd:web", other), 3);
            assertHello(front);
        }
    }

    @Test
    @Tag("slow")
    void killedThreeTimesUnderLoadNobodyIsRefused() throws Exception {
        killUnderLoad(3);
    }

    @Test
    @Tag("nightly")
    @Timeout(600)
    void killedTwentyTimesUnderLoadNobodyIsRefused() throws Exception {
        killUnderLoad(20);
    }

    private void killUnderLoad(int kills) throws Exception {
        try (PassedSockets passed = PassedSockets.open(directory, V4, V6);
                OpenLoop loop = OpenLoop.start()) {
            String yaml = yaml(loop.endpoint(), "systemd:web", "");
            InetSocketAddress front = passed.at(0, "127.0.0.1");
            TidegateProcess tidegate = start(passed, yaml);
            try {
                loop.arrive(front, 1_000);
                for (int i = 0; i < kills; i++) {
                    awaitServed(loop, 1_000);
                    tidegate.signal("KILL");
                    tidegate.awaitExit();
                    tidegate = start(passed, yaml);
                }
                awaitServed(loop, 1_000);
                List<String> broken = loop.failures(); // those that a killed process had
                awaitServed(loop, 2_000);
                loop.arriveNoMore();
                assertEquals(broken, loop.failures());
                List<String> unexpected = broken.stream()
                        .filter(failure -> !failure.contains("reset") && !failure.contains("ended early"))
                        .toList();
                assertEquals(List.of(), unexpected, "not by the kill of the process that had accepted them");
                System.out.println("kills=" + kills + " opened=" + loop.opened() + " served=" + loop.served()
                        + " broken=" + broken.size() + " refused=0");
            } finally {
                tidegate.close();
            }
        }
    }

    private TidegateProcess start(PassedSockets passed, String yaml) throws IOException {
        return TidegateProcess.run(directory, yaml).before(passed.starter()).start();
    }

    private static void awaitServed(OpenLoop loop, int more) {
        long enough = loop.served() + more;
        Await.until("more are served", BOUND, () -> loop.served() >= enough);
    }

    private void reload(TidegateProcess tidegate, String yaml, int generation) throws IOException {
        Files.writeString(directory.resolve("tidegate.yaml"), yaml);
        tidegate.signal("HUP");
        tidegate.awaitErr("reload applied gen=" + generation + " ");
    }

    private static void assertHello(InetSocketAddress front) throws IOException {
        try (ScriptedClient client = ScriptedClient.connect(front)) {
            assertEquals("hello", client.readText(5));
        }
    }

    /** Connected by the kernel, and then told to go away: it does not wait. */
    private static void assertReset(InetSocketAddress front) throws IOException {
        try (Socket client = new Socket()) {
            client.setSoTimeout((int) BOUND.toMillis());
            client.connect(front);
            assertThrows(SocketException.class, () -> client.getInputStream().read());
        }
    }

    private static ScriptedBackend hello() {
        return ScriptedBackend.start(
                Scripts.greet("hello".getBytes(StandardCharsets.US_ASCII)).then(Scripts.echo()));
    }

    private String yaml(ScriptedBackend backend, String listen) {
        return yaml(backend, listen, "");
    }

    private String yaml(ScriptedBackend backend, String listen, String more) {
        return yaml(backend.address(), listen, more);
    }

    private String yaml(InetSocketAddress endpoint, String listen, String more) {
        String admin = Files.exists(directory.resolve("admin.sock"), LinkOption.NOFOLLOW_LINKS)
                ? "systemd:admin"
                : "unix:" + directory.resolve("own.sock");
        return """
                admin: {listen: "%s"}
                log: {access: {path: none}}
                process: {warm-up: off}
                frontends:
                  - {name: front, listen: "%s", backend: back}
                %sbackends:
                  - {name: back, endpoints: [{name: a, address: "127.0.0.1:%d"}]}
                """.formatted(admin, listen, more, endpoint.getPort());
    }
}
