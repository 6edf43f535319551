package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.SeededStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** HTTP/1.1 and cleartext HTTP/2 between programs that the world uses; what they count is what the proxy counts. */
class RealHttpIT {
    private static final int PAGE_BYTES = 1000;
    private static final int FILE_BYTES = 4 * Bytes.MIB;

    private static final String CURL_COUNTS =
            "%{num_connects} %{size_request} %{size_upload} %{size_header} %{size_download}\\n";

    @TempDir
    static Path directory;

    private static Nginx nginx;

    @BeforeAll
    static void start() throws Exception {
        Path root = Files.createDirectory(directory.resolve("www"));
        Bytes.write(root.resolve("page"), 1, PAGE_BYTES);
        Bytes.write(root.resolve("file"), 2, FILE_BYTES);
        nginx = Nginx.start(directory, root);
    }

    @AfterAll
    static void stop() {
        if (nginx != null) {
            nginx.close();
        }
    }

    @EachTransport
    void curlKeepsOneConnectionForManyRequests(Wish transport) throws Exception {
        try (var proxy = ProxyFixture.on(transport).endpoint(nginx.http1()).start()) {
            nginx.forget();
            var result = Command.run(
                            "curl", "-sS", "-f", "-o", "/dev/null", "-w", CURL_COUNTS, url(proxy, "page?[1-500]"))
                    .expectSuccess();

            CurlCounts counts = CurlCounts.of(result.text());
            assertEquals(500, counts.responses);
            assertEquals(1, counts.connections);
            assertSameCounts(proxy, counts);
        }
    }

    @EachTransport
    void curlFetchesManyFilesAtOnce(Wish transport) throws Exception {
        try (var proxy =
                ProxyFixture.on(transport).endpoint(nginx.http1()).workers(2).start()) {
            nginx.forget();
            Path into = Files.createTempDirectory(directory, "fetched");
            var result = Command.run(
                            "curl",
                            "-sS",
                            "-f",
                            "-Z",
                            "--parallel-max",
                            "8",
                            "-o",
                            into + "/#1",
                            "-w",
                            CURL_COUNTS,
                            url(proxy, "file?[1-12]"))
                    .expectSuccess();

            CurlCounts counts = CurlCounts.of(result.text());
            assertEquals(12, counts.responses);
            String expected = SeededStream.sha256(2, FILE_BYTES);
            for (int i = 1; i <= 12; i++) {
                assertEquals(expected, Bytes.sha256(Files.readAllBytes(into.resolve("" + i))), "file " + i);
            }
            assertSameCounts(proxy, counts);
        }
    }

    /** What curl and nginx count, and what the proxy does, byte for byte. */
    private static void assertSameCounts(ProxyFixture proxy, CurlCounts curl) {
        proxy.awaitNoConnections();
        Nginx.Counts server = nginx.awaitRequests(curl.responses);
        assertAll(
                () -> assertEquals(curl.connections, proxy.sum(row -> row.accepted), "accepted"),
                () -> assertEquals(curl.connections, proxy.closed(), "closed"),
                () -> assertEquals(curl.sentBytes, proxy.sum(row -> row.receivedBytes), "received, of curl"),
                () -> assertEquals(curl.receivedBytes, proxy.sum(row -> row.sentBytes), "sent, of curl"),
                () -> assertEquals(server.receivedBytes(), proxy.sum(row -> row.receivedBytes), "received, of nginx"),
                () -> assertEquals(server.sentBytes(), proxy.sum(row -> row.sentBytes), "sent, of nginx"),
                () -> assertEquals(curl.connections, server.connections(), "connections of nginx"));
    }

    /** wrk stops in the middle of requests, so that only bounds of the counts are known. */
    @EachTransport
    void wrkSeesNoError(Wish transport) throws Exception {
        int connections = 32;
        try (var proxy =
                ProxyFixture.on(transport).endpoint(nginx.http1()).workers(2).start()) {
            nginx.forget();
            String report = Command.run("wrk", "-t1", "-c" + connections, "-d2s", url(proxy, "page"))
                    .expectSuccess()
                    .text();

            assertFalse(report.contains("Socket errors"), report);
            assertFalse(report.contains("Non-2xx"), report);
            long answered = number(report, "(\\d+) requests in");
            assertTrue(answered > 0, report);
            proxy.awaitNoConnections();
            assertEquals(connections + 1, proxy.closed(), "wrk tries a connection before it begins");
            Nginx.Counts server = nginx.awaitRequests(answered);
            long requestBytes = server.receivedBytes() / server.requests();
            long responseBytes = server.sentBytes() / server.requests();
            assertBetween(
                    answered * requestBytes,
                    (answered + connections) * requestBytes,
                    proxy.sum(row -> row.receivedBytes));
            assertBetween(
                    answered * responseBytes,
                    (answered + connections) * responseBytes,
                    proxy.sum(row -> row.sentBytes));
        }
    }

    @EachTransport
    void h2loadSeesNoFailure(Wish transport) throws Exception {
        try (var proxy =
                ProxyFixture.on(transport).endpoint(nginx.http2()).workers(2).start()) {
            String report = Command.run("h2load", "-n5000", "-c20", "-m10", url(proxy, "page"))
                    .expectSuccess()
                    .text();

            assertTrue(report.contains("5000 succeeded, 0 failed, 0 errored, 0 timeout"), report);
            proxy.awaitNoConnections();
            assertEquals(20, proxy.closed());
            assertEquals(number(report, "traffic: \\S+ \\((\\d+)\\) total"), proxy.sum(row -> row.sentBytes), report);
        }
    }

    @EachTransport
    void http2FilesComeWhole(Wish transport) throws Exception {
        try (var proxy = ProxyFixture.on(transport).endpoint(nginx.http2()).start()) {
            byte[] got = Command.run("curl", "-sS", "-f", "--http2-prior-knowledge", url(proxy, "file"))
                    .expectSuccess()
                    .output();

            assertEquals(SeededStream.sha256(2, FILE_BYTES), Bytes.sha256(got));
        }
    }

    /** The shape of a gRPC call: length-prefixed messages up and down in one stream, the status in trailers. */
    @EachTransport
    void grpcLikeCallKeepsMessagesAndTrailers(Wish transport) throws Exception {
        Path messages = directory.resolve("messages-" + transport);
        byte[] sent = grpcMessages(200, 3000);
        Files.write(messages, sent);
        var address = Daemon.freeAddress();
        try (var server = Daemon.start(
                        address,
                        directory,
                        "nghttpd",
                        "--no-tls",
                        "--echo-upload",
                        "--trailer=grpc-status: 0",
                        "--address=" + address.getAddress().getHostAddress(),
                        "" + address.getPort());
                var proxy =
                        ProxyFixture.on(transport).endpoint(server.endpoint()).start()) {
            byte[] echoed = call(proxy, messages, "--no-dep").output();
            String frames = call(proxy, messages, "-nv").text();

            assertArrayEquals(sent, echoed);
            assertTrue(frames.contains("grpc-status: 0"), frames);
            proxy.awaitNoConnections();
            assertEquals(2, proxy.closed());
        }
    }

    private static Command.Result call(ProxyFixture proxy, Path messages, String option) throws Exception {
        return Command.run(
                        "nghttp",
                        option,
                        "--data=" + messages,
                        "--header=content-type: application/grpc",
                        "--header=te: trailers",
                        url(proxy, "tide.Clock/Watch"))
                .expectSuccess();
    }

    private static byte[] grpcMessages(int count, int bytes) {
        ByteBuffer out = ByteBuffer.allocate(count * (5 + bytes));
        for (int i = 0; i < count; i++) {
            out.put((byte) 0).putInt(bytes).put(SeededStream.bytes(i, bytes));
        }
        return out.array();
    }

    private static String url(ProxyFixture proxy, String path) {
        return "http://" + Daemon.hostPort(proxy.address()) + "/" + path;
    }

    private static void assertBetween(long least, long most, long actual) {
        assertTrue(least <= actual && actual <= most, actual + " is not within " + least + ".." + most);
    }

    private static long number(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertTrue(matcher.find(), () -> "no " + pattern + " in\n" + text);
        return Long.parseLong(matcher.group(1));
    }

    /** Sums of what curl writes for each response. */
    private record CurlCounts(long responses, long connections, long sentBytes, long receivedBytes) {
        static CurlCounts of(String lines) throws IOException {
            long connections = 0;
            long sent = 0;
            long received = 0;
            List<String> all = lines.lines().toList();
            for (String line : all) {
                String[] fields = line.split(" ", -1);
                connections += Long.parseLong(fields[0]);
                sent += Long.parseLong(fields[1]) + Long.parseLong(fields[2]);
                received += Long.parseLong(fields[3]) + Long.parseLong(fields[4]);
            }
            return new CurlCounts(all.size(), connections, sent, received);
        }
    }
}
