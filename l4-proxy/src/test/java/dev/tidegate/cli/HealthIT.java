package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.cli.SteadyClients.Visit;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.HostPort;
import dev.tidegate.testkit.RealNginx;
import dev.tidegate.testkit.ScriptedBackend;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What happens to one endpoint of three happens to it alone: clients come at 500 a second meanwhile. How long those of the
 * others take is measured by {@link OthersIT}.
 */
@Tag("clock")
@Tag("slow")
class HealthIT {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final Duration DETECTION = Duration.ofSeconds(5);
    private static final int PER_SECOND = 500;
    private static final Duration CALM = Duration.ofMillis(1_500);

    @TempDir
    Path directory;

    @Test
    void anEndpointThatIsKilledIsLeftByItself() throws Exception {
        try (var victim = RealNginx.http("victim");
                Scene scene = new Scene(HostPort.of(victim.address()), HTTP_CHECK)) {
            scene.calm();
            TidegateProcess.command("kill", "-KILL", Long.toString(victim.pid()));
            long out = scene.awaitOut("down");
            scene.finish("killed");

            // What it had accepted dies with it; whoever came later was served by another, at the first try or the
            // second.
            long resets = scene.closed("endpoint-reset");
            assertTrue(scene.failures().size() <= 3, () -> scene.failures().toString());
            assertTrue(resets <= 3, "connections that died with it: " + resets);
            for (String undialed : List.of("dial-refused", "dial-timeout", "dial-failed", "no-endpoint")) {
                assertEquals(0, scene.closed(undialed), undialed);
            }
            assertEquals(List.of(), failed(scene.clients.between(out, System.nanoTime())));
        }
    }

    @Test
    void anEndpointThatRefusesCostsNoClientAnything() throws Exception {
        InetSocketAddress nobody = deadAddress();
        try (Scene scene = new Scene(HostPort.of(nobody), "    outlier: {ejection: 1s}\n")) {
            scene.calm();
            scene.awaitEvent("endpoint-ejected");
            scene.finish("refusing, no checks");

            assertEquals(List.of(), scene.failures());
        }
    }

    @Test
    void aFrozenEndpointIsOutWithAnApplicationCheckAndComesBackWithARamp() throws Exception {
        try (var victim = RealNginx.http("victim");
                Scene scene = new Scene(HostPort.of(victim.address()), HTTP_CHECK + "    slow-start: {window: 4s}\n")) {
            scene.calm();
            TidegateProcess.command("kill", "-STOP", Long.toString(victim.pid()));
            long out = scene.awaitOut("down");
            scene.calm();
            assertEquals(List.of(), failed(scene.clients.between(out, System.nanoTime() - SECOND)));

            TidegateProcess.command("kill", "-CONT", Long.toString(victim.pid()));
            long in = scene.awaitIn();
            Await.until("a second of its ramp", BOUND, () -> System.nanoTime() - in >= SECOND);
            Await.until(
                    "its whole share",
                    BOUND,
                    () -> scene.endpoint("c").get("share").asDouble() == 100.0);
            long whole = System.nanoTime();
            scene.calm();
            double first = share(scene.clients.between(in, in + SECOND));
            double last = share(scene.clients.between(whole, System.nanoTime() - SECOND / 10));
            scene.finish("frozen, HTTP check");
            System.out.printf(Locale.ROOT, "ramp: share in the first second %.2f, whole %.2f%n", first, last);
            assertTrue(first < last * 0.75, "no ramp: " + first + ", then " + last);
            assertTrue(last > 0.25 && last < 0.42, "its share in the end: " + last);
        }
    }

    /** caddyserver/caddy#6152: one failed check, by a pause of a collector, took a sound endpoint out. */
    @Test
    void anEndpointThatStandsStillForAMomentStaysInAndNobodyFails() throws Exception {
        try (var victim = RealNginx.http("victim");
                Scene scene = new Scene(
                        HostPort.of(victim.address()),
                        "    health: {type: http, interval: 1s, timeout: 500ms, rise: 2, fall: 8}\n")) {
            scene.calm();
            TidegateProcess.command("kill", "-STOP", Long.toString(victim.pid()));
            scene.awaitFailedCheck();
            TidegateProcess.command("kill", "-CONT", Long.toString(victim.pid()));
            scene.calm();
            scene.finish("stopped for a moment");

            // Clients that have no patience for the moment leave by themselves.
            for (String failed :
                    List.of("endpoint-reset", "dial-refused", "dial-timeout", "dial-failed", "no-endpoint")) {
                assertEquals(0, scene.closed(failed), failed);
            }
            assertEquals(List.of(), scene.logged("endpoint down"));
            assertTrue(scene.endpoint("c").get("pickable").asBoolean());
        }
    }

    /** Power of two sends few connections to an endpoint on which some hang: a row of two is enough, and comes soon enough. */
    @Test
    void aFrozenEndpointIsEjectedForItsSilence() throws Exception {
        try (var victim = RealNginx.http("victim");
                Scene scene = new Scene(
                        HostPort.of(victim.address()),
                        "    health: {type: tcp, interval: 500ms}\n    outlier: {consecutive-failures: 2, first-byte: 500ms, ejection: 20s}\n")) {
            scene.calm();
            TidegateProcess.command("kill", "-STOP", Long.toString(victim.pid()));
            long out = scene.awaitOut("ejected");
            scene.calm();
            assertEquals(List.of(), failed(scene.clients.between(out, System.nanoTime() - SECOND)));
            scene.finish("frozen, TCP check and first-byte");
            TidegateProcess.command("kill", "-CONT", Long.toString(victim.pid()));
        }
    }

    @Test
    void anEndpointThatResetsWhatItAcceptsIsEjected() throws Exception {
        try (var victim = ScriptedBackend.start(connection -> connection.reset());
                Scene scene = new Scene(victim.hostPort(), "    outlier: {ejection: 20s}\n")) {
            long out = scene.awaitOut("ejected");
            scene.calm();
            assertEquals(List.of(), failed(scene.clients.between(out, System.nanoTime() - SECOND)));
            scene.finish("resetting");
            long resets = scene.closed("endpoint-reset");
            assertTrue(resets <= 20, "connections that it reset: " + resets);
            // Some are reset so early that they are tried elsewhere: those are refused connects, and count as well.
            JsonNode failures = scene.endpoint("c").get("failures");
            assertTrue(failures.get("reset").asInt() + failures.get("refused").asInt() >= 5, failures::toString);
        }
    }

    /** A full accept queue: the kernel drops what knocks, as a firewall or a dead host does. */
    @Test
    void anEndpointThatIsABlackHoleIsLeftByItself() throws Exception {
        try (var victim = ScriptedBackend.blackHole();
                Scene scene = new Scene(victim.hostPort(), "    outlier: {ejection: 20s}\n")) {
            long out = scene.awaitOut("ejected");
            scene.calm();
            assertEquals(List.of(), failed(scene.clients.between(out, System.nanoTime() - SECOND)));
            scene.finish("black hole");
            assertTrue(scene.endpoint("c").at("/failures/timeout").asInt() >= 5, scene.endpoint("c")::toString);
        }
    }

    @Test
    void anEndpointThatAcceptsAndIsSilentIsEjected() throws Exception {
        try (var victim = ScriptedBackend.start(connection -> connection.readToEnd(Duration.ofSeconds(30)));
                Scene scene = new Scene(
                        victim.hostPort(),
                        "    outlier: {consecutive-failures: 2, first-byte: 300ms, ejection: 20s}\n")) {
            long out = scene.awaitOut("ejected");
            scene.calm();
            assertEquals(List.of(), failed(scene.clients.between(out, System.nanoTime() - SECOND)));
            scene.finish("silent");
        }
    }

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final String HTTP_CHECK =
            "    health: {type: http, interval: 500ms, timeout: 500ms, rise: 2, fall: 3}\n";

    private static List<Visit> failed(List<Visit> visits) {
        return visits.stream().filter(Visit::failed).toList();
    }

    private static double share(List<Visit> visits) {
        long victims =
                visits.stream().filter(visit -> "victim".equals(visit.answer())).count();
        return (double) victims / Math.max(1, visits.size());
    }

    /** A port that nobody listens on. */
    private static InetSocketAddress deadAddress() {
        try (var gone = ScriptedBackend.start(connection -> {})) {
            return gone.address();
        }
    }

    /** A balancer before two sound servers and one more, and clients that do not stop coming. */
    private final class Scene implements AutoCloseable {
        private final RealNginx one = RealNginx.http("one");
        private final RealNginx two = RealNginx.http("two");
        private final TidegateProcess tidegate;
        private final AdminCurl curl = new AdminCurl(directory.resolve("admin.sock"));
        private final SteadyClients clients;
        private final long begin = System.nanoTime();

        Scene(String victim, String settings) throws Exception {
            String yaml = """
                    admin: {listen: "unix:%s"}
                    log: {access: {path: none}}
                    frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                    backends:
                      - name: back
                        connect: {timeout: 500ms}
                        endpoints: [{name: a, address: "%s"}, {name: b, address: "%s"}, {name: c, address: "%s"}]
                    """.formatted(
                    directory.resolve("admin.sock"), HostPort.of(one.address()), HostPort.of(two.address()), victim);
            tidegate = TidegateProcess.run(directory, yaml + settings).start();
            Await.until("ready", BOUND, () -> curl.get("/readyz").status() == 200);
            clients = SteadyClients.start(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port()), PER_SECOND);
        }

        /** Some time in which nothing new happens. */
        void calm() {
            long until = System.nanoTime() + CALM.toNanos();
            Await.until("time passes", BOUND, () -> System.nanoTime() - until >= 0);
        }

        JsonNode endpoint(String name) {
            return curl.look("/v1/backends/back/endpoints/" + name);
        }

        /** Waits until the third endpoint is not picked any more, for that reason, and answers when that was. */
        long awaitOut(String reason) {
            Await.until(
                    "out", DETECTION, () -> endpoint("c").get("reason").asText().startsWith(reason));
            return System.nanoTime();
        }

        long awaitIn() {
            Await.until(
                    "in again", DETECTION, () -> endpoint("c").get("pickable").asBoolean());
            return System.nanoTime();
        }

        void awaitEvent(String type) {
            Await.until(type, DETECTION, () -> !logged(type).isEmpty());
        }

        List<String> logged(String words) {
            return tidegate.err().stream().filter(line -> line.contains(words)).toList();
        }

        /** Of the third endpoint. */
        void awaitFailedCheck() {
            Await.until(
                    "a failed check",
                    BOUND,
                    () -> endpoint("c")
                            .at("/health/checks")
                            .findValuesAsText("result")
                            .contains("fail"));
        }

        long closed(String reason) {
            return curl.look("/v1/frontends/front").at("/closed/" + reason).asLong();
        }

        List<Visit> failures() {
            return failed(clients.between(begin, System.nanoTime()));
        }

        void finish(String what) throws InterruptedException {
            clients.stop();
            System.out.printf(
                    "%s: %d clients, %d failed%n",
                    what, clients.ended(), failures().size());
        }

        @Override
        public void close() {
            clients.close();
            tidegate.close();
            two.close();
            one.close();
        }
    }
}
