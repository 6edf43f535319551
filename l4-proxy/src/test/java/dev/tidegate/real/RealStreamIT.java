package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Streams of bytes between programs that the world uses: much at once, half-closed, encrypted, long. */
class RealStreamIT {
    /** What opens each of iperf3's connections. */
    private static final int IPERF_COOKIE_BYTES = 37;
    /** More than iperf3's control connection carries: parameters and results, both as JSON. */
    private static final int IPERF_CONTROL_BYTES = 64 * Bytes.KIB;

    private static final Duration LONG = Duration.ofMinutes(10);

    @TempDir
    static Path directory;

    @EachTransport
    void iperf3SendsSeveralStreamsUp(Wish transport) throws Exception {
        iperf3(transport, false);
    }

    @EachTransport
    void iperf3SendsSeveralStreamsDown(Wish transport) throws Exception {
        iperf3(transport, true);
    }

    private static void iperf3(Wish transport, boolean down) throws Exception {
        int streams = 4;
        InetSocketAddress address = Daemon.freeAddress();
        try (var server = Daemon.start(
                        address,
                        directory,
                        "iperf3",
                        "--server",
                        "--one-off",
                        "--bind=" + address.getAddress().getHostAddress(),
                        "--port=" + address.getPort());
                var proxy = ProxyFixture.on(transport)
                        .endpoint(server.endpoint())
                        .workers(2)
                        .start()) {
            var result = Command.run(
                            "iperf3",
                            "--client=" + proxy.address().getAddress().getHostAddress(),
                            "--port=" + proxy.address().getPort(),
                            "--bytes=256M",
                            "--parallel=" + streams,
                            "--json",
                            down ? "--reverse" : "--no-delay")
                    .expectSuccess();
            server.awaitEnd();
            proxy.awaitNoConnections();

            JsonNode end = new ObjectMapper().readTree(result.output()).get("end");
            long sent = end.get("sum_sent").get("bytes").longValue();
            long received = end.get("sum_received").get("bytes").longValue();
            assertEquals(streams + 1, proxy.closed());
            long proxyTook = proxy.sum(row -> down ? row.sentBytes : row.receivedBytes);
            long least = received + (down ? 0 : (streams + 1) * IPERF_COOKIE_BYTES);
            assertTrue(
                    least <= proxyTook && proxyTook <= sent + IPERF_CONTROL_BYTES,
                    "iperf3 sent " + sent + " and received " + received + ", the proxy relayed " + proxyTook);
        }
    }

    @EachTransport
    void ncThatHalfClosesGetsTheAnswerThatComesAfterItsEnd(Wish transport) throws Exception {
        byte[] answer = SeededStream.bytes(5, 3 * Bytes.MIB);
        Path one = Files.writeString(directory.resolve("x-" + transport), "x");
        try (var backend = ScriptedBackend.start(Scripts.readToEndThenReply(answer));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            var result = Command.run(
                            one,
                            Command.BOUND,
                            "nc",
                            "-N",
                            proxy.address().getAddress().getHostAddress(),
                            "" + proxy.address().getPort())
                    .expectSuccess();

            assertEquals(SeededStream.sha256(5, answer.length), Bytes.sha256(result.output()));
            assertEquals("x", backend.connection(0).firstText());
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.CLIENT_CLOSED, record.reason);
            assertEquals(1, record.bytesReceived);
            assertEquals(answer.length, record.bytesSent);
        }
    }

    @EachTransport
    void socatPassesAFileBothWaysThroughAHalfClose(Wish transport) throws Exception {
        Path file = Bytes.write(directory.resolve("socat-" + transport), 6, 5 * Bytes.MIB);
        InetSocketAddress address = Daemon.freeAddress();
        String listen = "TCP-LISTEN:" + address.getPort() + ",bind="
                + address.getAddress().getHostAddress();
        try (var server = Daemon.start(address, directory, "socat", listen, "SYSTEM:sha256sum");
                var proxy =
                        ProxyFixture.on(transport).endpoint(server.endpoint()).start()) {
            var result = Command.run(
                            file, Command.BOUND, "socat", "-t30", "-", "TCP:" + Daemon.hostPort(proxy.address()))
                    .expectSuccess();

            assertEquals(SeededStream.sha256(6, 5 * Bytes.MIB), result.text().split(" ", -1)[0], result.errors());
            var record = proxy.awaitOnlyRecord();
            assertEquals(5 * Bytes.MIB, record.bytesReceived);
            assertEquals(result.output().length, record.bytesSent);
        }
    }

    @EachTransport
    void tlsServerSendsAFile(Wish transport) throws Exception {
        Path home = tlsHome(transport + "-down");
        Bytes.write(home.resolve("file"), 7, 4 * Bytes.MIB);
        Path request = Files.writeString(home.resolve("request"), "GET /file HTTP/1.0\r\n\r\n");
        InetSocketAddress address = Daemon.freeAddress();
        try (var server = tlsServer(address, home, "-WWW");
                var proxy =
                        ProxyFixture.on(transport).endpoint(server.endpoint()).start()) {
            byte[] got = tlsClient(proxy, home, request, "-ign_eof").output();

            byte[] body = Arrays.copyOfRange(got, got.length - 4 * Bytes.MIB, got.length);
            assertEquals(SeededStream.sha256(7, 4 * Bytes.MIB), Bytes.sha256(body));
            assertTrue(new String(got, 0, 60, StandardCharsets.ISO_8859_1).startsWith("HTTP/1.0 200"));
            assertTrue(proxy.awaitOnlyRecord().bytesSent > 4 * Bytes.MIB);
        }
    }

    @EachTransport
    void tlsClientSendsAFile(Wish transport) throws Exception {
        Path home = tlsHome(transport + "-up");
        Path file = Bytes.write(home.resolve("file"), 8, 4 * Bytes.MIB);
        InetSocketAddress address = Daemon.freeAddress();
        try (var server = tlsServer(address, home, "-naccept", "1");
                var proxy =
                        ProxyFixture.on(transport).endpoint(server.endpoint()).start()) {
            tlsClient(proxy, home, file, "-no_ign_eof", "-nocommands");
            server.awaitEnd();

            assertEquals(SeededStream.sha256(8, 4 * Bytes.MIB), Bytes.sha256(Files.readAllBytes(server.output())));
            assertTrue(proxy.awaitOnlyRecord().bytesReceived > 4 * Bytes.MIB);
        }
    }

    private static Path tlsHome(String name) throws Exception {
        Path home = Files.createDirectory(directory.resolve(name));
        Command.run(
                        "openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        "ec",
                        "-pkeyopt",
                        "ec_paramgen_curve:prime256v1",
                        "-noenc",
                        "-days",
                        "2",
                        "-subj",
                        "/CN=localhost",
                        "-keyout",
                        home + "/key",
                        "-out",
                        home + "/certificate")
                .expectSuccess();
        return home;
    }

    private static Daemon tlsServer(InetSocketAddress address, Path home, String... options) throws IOException {
        String[] all = {"s_server", "-quiet", "-key", "key", "-cert", "certificate", "-accept", Daemon.hostPort(address)
        };
        return Daemon.start(address, home, "openssl", join(all, options));
    }

    private static Command.Result tlsClient(ProxyFixture proxy, Path home, Path input, String... options)
            throws Exception {
        String[] all = {
            "s_client",
            "-quiet",
            "-verify_return_error",
            "-CAfile",
            home + "/certificate",
            "-servername",
            "localhost",
            "-connect",
            Daemon.hostPort(proxy.address())
        };
        return Command.run(input, Command.BOUND, "openssl", join(all, options)).expectSuccess();
    }

    private static String[] join(String[] first, String[] second) {
        String[] all = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }

    @EachTransport
    void longStreamsPassBothWaysAtOnce(Wish transport) throws Exception {
        passBothWays(transport, 128L * Bytes.MIB);
    }

    @EachTransport
    @Tag("nightly")
    void twoGibibytesPassBothWaysAtOnce(Wish transport) throws Exception {
        passBothWays(transport, 2048L * Bytes.MIB);
    }

    private static void passBothWays(Wish transport, long bytes) throws Exception {
        try (var backend = ScriptedBackend.start(connection -> {
                    FutureTask<Void> sending = sending(() -> {
                        connection.sendSeeded(12, bytes);
                        connection.shutdownOutput();
                        return null;
                    });
                    connection.readToEnd(LONG);
                    Await.until("the endpoint has sent all", LONG, sending::isDone);
                });
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            FutureTask<Void> sending = sending(() -> {
                client.sendSeeded(11, bytes);
                client.shutdownOutput();
                return null;
            });
            client.readToEnd(LONG);
            sending.get();

            var record = proxy.awaitOnlyRecord();
            assertEquals(SeededStream.sha256(12, bytes), client.sha256());
            assertEquals(SeededStream.sha256(11, bytes), backend.connection(0).sha256());
            assertEquals(bytes, record.bytesReceived);
            assertEquals(bytes, record.bytesSent);
        }
    }

    private static FutureTask<Void> sending(Callable<Void> task) {
        FutureTask<Void> future = new FutureTask<>(task);
        Thread thread = new Thread(future, "sends-a-long-stream");
        thread.setDaemon(true);
        thread.start();
        return future;
    }
}
