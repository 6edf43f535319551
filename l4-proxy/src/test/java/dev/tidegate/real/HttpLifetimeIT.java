package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Clients that the world uses, over connections that may carry few requests: all are answered, and nothing is cut. */
@Tag("clock")
class HttpLifetimeIT {
    private static final int PAGE_BYTES = 1000;
    private static final int MAX_REQUESTS = 10;

    @TempDir
    static Path directory;

    private static Nginx nginx;

    @BeforeAll
    static void start() throws Exception {
        Path root = Files.createDirectory(directory.resolve("www"));
        Bytes.write(root.resolve("page"), 1, PAGE_BYTES);
        nginx = Nginx.start(directory, root);
    }

    @AfterAll
    static void stop() {
        if (nginx != null) {
            nginx.close();
        }
    }

    private static ProxyFixture proxy(Wish transport, String endpoint) throws Exception {
        return ProxyFixture.on(transport)
                .endpoint(endpoint)
                .frontend("lifetime: {max-requests: " + MAX_REQUESTS + ", grace: 30s}")
                .start();
    }

    private static String url(ProxyFixture proxy, String path) {
        return "http://127.0.0.1:" + proxy.address().getPort() + "/" + path;
    }

    @EachTransport
    @Tag("slow")
    void wrk(Wish transport) throws Exception {
        try (var proxy = proxy(transport, nginx.http1())) {
            String report = Command.run("wrk", "-t1", "-c16", "-d1s", "--latency", url(proxy, "page"))
                    .expectSuccess()
                    .text();

            assertFalse(report.contains("Non-2xx"), report);
            assertFalse(report.contains("Socket errors"), report);
            long requests = number(report, "(\\d+) requests in");
            // Those that wrk leaves in the middle when its time is over are none of ours.
            assertRetired(proxy, RetireHow.RESPONSE, requests / MAX_REQUESTS - 32, requests);
        }
    }

    @EachTransport
    @Tag("slow")
    void h2loadOverHttp1(Wish transport) throws Exception {
        h2loadOverHttp1(transport, 5_000);
    }

    @EachTransport
    @Tag("nightly")
    void h2loadOverHttp1ForLonger(Wish transport) throws Exception {
        h2loadOverHttp1(transport, 20_000);
    }

    private static void h2loadOverHttp1(Wish transport, int requests) throws Exception {
        try (var proxy = proxy(transport, nginx.http1())) {
            String report = Command.run("h2load", "--h1", "-c8", "-n" + requests, url(proxy, "page"))
                    .expectSuccess()
                    .text();

            assertEquals(requests, number(report, "(\\d+) succeeded"), report);
            assertRetired(proxy, RetireHow.RESPONSE, requests / MAX_REQUESTS - 8, requests);
        }
    }

    @EachTransport
    @Tag("slow")
    void curl(Wish transport) throws Exception {
        int requests = 2_000;
        try (var proxy = proxy(transport, nginx.http1())) {
            String report = Command.run(
                            "curl",
                            "-sS",
                            "-f",
                            "-o",
                            "/dev/null",
                            "-w",
                            "%{http_code} %{size_download}\\n",
                            url(proxy, "page?[1-" + requests + "]"))
                    .expectSuccess()
                    .text();

            assertEquals(
                    requests,
                    report.lines().filter(("200 " + PAGE_BYTES)::equals).count());
            assertRetired(proxy, RetireHow.RESPONSE, requests / MAX_REQUESTS - 1, requests);
        }
    }

    /**
     * nghttp opens all streams at once and never makes a second connection: all that it opened are answered, and it takes
     * both GOAWAY for what they are (golang/go#80759: a strict peer would take an id of the wrong side for an error).
     */
    @EachTransport
    @Tag("slow")
    void nghttp(Wish transport) throws Exception {
        int streams = 50;
        try (var proxy = proxy(transport, nginx.http2())) {
            String report = Command.run("nghttp", "-nv", "-m" + streams, url(proxy, "page"))
                    .expectSuccess()
                    .text();

            assertEquals(
                    streams,
                    report.lines().filter(line -> line.contains(":status: 200")).count(),
                    report);
            assertTrue(report.contains("last_stream_id=2147483647, error_code=NO_ERROR"), report);
            assertRetired(proxy, RetireHow.GOAWAY, 1, streams);
        }
    }

    @EachTransport
    @Tag("slow")
    void javaOverHttp1(Wish transport) throws Exception {
        int threads = 4;
        long each = 250;
        try (var proxy = proxy(transport, nginx.http1())) {
            assertEquals(threads * each, javaAnswers(proxy, threads, each));
            assertRetired(proxy, RetireHow.RESPONSE, threads * each / MAX_REQUESTS - threads, threads * each);
            // A client has no end of its own before Java 21: it goes, and its last connections with it, with the
            // garbage.
            Await.until("the client is gone", Duration.ofSeconds(30), () -> {
                System.gc();
                return Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().matches("HttpClient-.*-SelectorManager"));
            });
        }
    }

    private static long javaAnswers(ProxyFixture proxy, int threads, long each) throws InterruptedException {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            HttpClient client =
                    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            HttpRequest request = HttpRequest.newBuilder(URI.create(url(proxy, "page")))
                    .timeout(Duration.ofSeconds(20))
                    .build();
            List<Future<Integer>> answered = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                answered.add(executor.submit(() -> {
                    int whole = 0;
                    for (int j = 0; j < each; j++) {
                        HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                        whole += response.statusCode() == 200 && response.body().length == PAGE_BYTES ? 1 : 0;
                    }
                    return whole;
                }));
            }
            long sum = 0;
            for (Future<Integer> one : answered) {
                try {
                    sum += one.get();
                } catch (ExecutionException failed) {
                    throw new AssertionError("a request failed; connections ended: " + ends(proxy), failed);
                }
            }
            return sum;
        } finally {
            executor.shutdownNow();
        }
    }

    /** Node's client is told to go away, and makes a new session then, as its documentation has it. */
    @EachTransport
    @Tag("slow")
    void nodeOverHttp2(Wish transport) throws Exception {
        nodeOverHttp2(transport, 2_000);
    }

    @EachTransport
    @Tag("nightly")
    void nodeOverHttp2ForLonger(Wish transport) throws Exception {
        nodeOverHttp2(transport, 5_000);
    }

    private static void nodeOverHttp2(Wish transport, int requests) throws Exception {
        Path script = directory.resolve("client.js");
        Files.writeString(script, """
                const http2 = require('http2');
                const [url, total] = [process.argv[2], Number(process.argv[3])];
                let session, started = 0, done = 0, failed = 0, sessions = 0, again = 0;
                function connect() {
                  sessions++;
                  const mine = http2.connect(url);
                  mine.on('error', e => console.error('session', e.code));
                  mine.on('goaway', () => { if (session === mine) session = null; });
                  mine.on('close', () => { if (session === mine) session = null; });
                  return mine;
                }
                function one() {
                  if (started === total) return;
                  started++;
                  if (!session || session.closed || session.destroyed) session = connect();
                  const stream = session.request({':path': '/page'});
                  let size = 0, status = 0, over = false;
                  const end = ok => {
                    if (over) return;
                    over = true;
                    ok ? done++ : failed++;
                    if (done + failed === total) {
                      console.log(`done=${done} failed=${failed} sessions=${sessions} again=${again}`);
                      process.exit(0);
                    }
                    one();
                  };
                  stream.on('response', h => status = h[':status']);
                  stream.on('data', d => size += d.length);
                  stream.on('end', () => end(status === 200 && size === 1000));
                  stream.on('error', e => {
                    // Refused: it was not sent before the session was told to go away (RFC 9113 section 8.7).
                    if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM && !over && status === 0) {
                      over = true;
                      again++;
                      started--;
                      one();
                    } else {
                      console.error(e.code, e.message);
                      end(false);
                    }
                  });
                  stream.end();
                }
                for (let i = 0; i < 8; i++) one();
                """);
        try (var proxy = proxy(transport, nginx.http2())) {
            var result = Command.run("node", script.toString(), url(proxy, ""), "" + requests)
                    .expectSuccess();

            String report = result.text() + result.errors();
            assertEquals(requests, number(report, "done=(\\d+)"), report);
            assertEquals(0, number(report, "failed=(\\d+)"), report);
            assertRetired(proxy, RetireHow.GOAWAY, requests / (MAX_REQUESTS + 120), requests);
        }
    }

    private static void assertRetired(ProxyFixture proxy, RetireHow how, long least, long requests) {
        // One that lingers is not counted yet.
        boolean enough = Await.tryUntil(
                Await.BOUND, () -> proxy.sum(row -> row.retired(CloseReason.MAX_REQUESTS, how)) >= least);
        assertTrue(
                enough,
                () -> "not " + least + " were retired by " + how.word() + ": " + ends(proxy) + " of "
                        + proxy.sum(row -> row.accepted) + ", " + proxy.active() + " open");
        long retired = proxy.sum(row -> row.retired(CloseReason.MAX_REQUESTS, how));
        long all = 0;
        for (RetireHow any : RetireHow.values()) {
            all += proxy.sum(row -> row.retired(CloseReason.MAX_REQUESTS, any));
        }
        long otherwise = all - retired;
        System.out.println(
                requests + " requests: " + retired + " retired by " + how.word() + ", " + otherwise + " otherwise");
        assertTrue(otherwise * 99 <= retired, () -> otherwise + " ended in another way than by " + how.word());
    }

    private static Map<String, Long> ends(ProxyFixture proxy) {
        return proxy.records().stream()
                .collect(Collectors.groupingBy(
                        record -> record.reason + " " + record.how + " " + record.protocol.word() + " after "
                                + record.requests,
                        Collectors.counting()));
    }

    private static long number(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertTrue(matcher.find(), () -> pattern + " is not in " + text);
        return Long.parseLong(matcher.group(1));
    }
}
