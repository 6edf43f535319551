package dev.tidegate.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.cli.SteadyClients.Visit;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.GrpcHealthServer;
import dev.tidegate.testkit.GrpcHealthServer.Health;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three real gRPC servers with the standard health service, of which one says no or dies, under 500 clients a second. */
@Tag("clock")
@Tag("slow")
class GrpcHealthIT {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final Duration DETECTION = Duration.ofSeconds(5);
    private static final long CALM_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);
    private static final int PER_SECOND = 500;

    @TempDir
    Path directory;

    @Test
    void aServerThatIsNotServingGetsNobodyNewAndOneThatDiesCostsNobodyAnything() throws Exception {
        Path socket = directory.resolve("admin.sock");
        AdminCurl curl = new AdminCurl(socket);
        try (GrpcHealthServer a = GrpcHealthServer.start();
                GrpcHealthServer b = GrpcHealthServer.start();
                GrpcHealthServer c = GrpcHealthServer.start();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory, """
                        admin: {listen: "unix:%s"}
                        log: {access: {path: none}}
                        frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                        backends:
                          - name: back
                            health: {type: grpc, interval: 500ms, timeout: 3s, rise: 2, fall: 3}
                            endpoints: [{name: a, address: "%s"}, {name: b, address: "%s"}, {name: c, address: "%s"}]
                        """.formatted(socket, a.hostPort(), b.hostPort(), c.hostPort()))
                        .start()) {
            Await.until("ready", BOUND, () -> curl.get("/readyz").status() == 200);
            InetSocketAddress front = new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port());
            long begin = System.nanoTime();
            try (SteadyClients clients = SteadyClients.start(front, PER_SECOND, GrpcHealthIT::greet)) {
                calm();
                c.say("", Health.NOT_SERVING);
                Await.until("not ready", DETECTION, () -> reason(curl, "c").startsWith("not ready"));
                long picks =
                        curl.look("/v1/backends/back/endpoints/c").get("picks").asLong();
                calm();
                JsonNode held = curl.look("/v1/backends/back/endpoints/c");
                assertEquals(picks, held.get("picks").asLong(), held::toString);

                c.say("", Health.SERVING);
                Await.until("in again", DETECTION, () -> reason(curl, "c").isEmpty());
                b.die();
                Await.until("down", DETECTION, () -> reason(curl, "b").startsWith("down"));
                calm();
                clients.stop();
                List<Visit> failed = clients.between(begin, System.nanoTime()).stream()
                        .filter(Visit::failed)
                        .toList();
                System.out.println("gRPC: " + clients.ended() + " clients, " + failed.size() + " failed");
                // Whoever was on the one that died is lost with it; nobody else.
                long died = curl.look("/v1/frontends/front")
                                .at("/closed/endpoint-reset")
                                .asLong()
                        + curl.look("/v1/frontends/front")
                                .at("/closed/endpoint-closed")
                                .asLong();
                assertTrue(failed.size() <= Math.min(died, 3), failed::toString);
            }
        }
    }

    private static String reason(AdminCurl curl, String endpoint) {
        return curl.look("/v1/backends/back/endpoints/" + endpoint)
                .get("reason")
                .asText("");
    }

    private static void calm() {
        long until = System.nanoTime() + CALM_NANOS;
        Await.until("time passes", BOUND, () -> System.nanoTime() - until >= 0);
    }

    /** The beginning of any gRPC connection: the preface with an empty SETTINGS frame, which the server answers with its own. */
    private static String greet(Socket endpoint) throws IOException {
        byte[] preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
        byte[] settings = {0, 0, 0, 4, 0, 0, 0, 0, 0};
        endpoint.getOutputStream().write(preface);
        endpoint.getOutputStream().write(settings);
        byte[] head = endpoint.getInputStream().readNBytes(9);
        if (head.length < 9 || head[3] != 4) {
            throw new IOException("no SETTINGS, but " + head.length + " bytes");
        }
        return "settings";
    }
}
