package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.ProxyFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Clients that the world uses, over connections that may carry few requests: all are answered, and nothing is cut. */
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
            String report = Command.run("wrk", "-t1", "-c16", "-d2s", "--latency", url(proxy, "page"))
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
        int requests = 20_000;
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
    void curlOverHttp1(Wish transport) throws Exception {
        curl(transport, nginx.http1(), "--http1.1", RetireHow.RESPONSE);
    }

    @EachTransport
    @Tag("slow")
    void curlOverHttp2(Wish transport) throws Exception {
        curl(transport, nginx.http2(), "--http2-prior-knowledge", RetireHow.GOAWAY);
    }

    private static void curl(Wish transport, String endpoint, String protocol, RetireHow how) throws Exception {
        int requests = 2_000;
        try (var proxy = proxy(transport, endpoint)) {
            String report = Command.run(
                            "curl",
                            "-sS",
                            "-f",
                            protocol,
                            "-o",
                            "/dev/null",
                            "-w",
                            "%{http_code} %{size_download}\\n",
                            url(proxy, "page?[1-" + requests + "]"))
                    .expectSuccess()
                    .text();

            assertEquals(requests, report.lines().filter(("200 " + PAGE_BYTES)::equals).count());
            assertRetired(proxy, how, requests / (MAX_REQUESTS + 1) - 1, requests);
        }
    }

    @EachTransport
    @Tag("slow")
    void javaOverHttp1(Wish transport) throws Exception {
        int threads = 4;
        int each = 500;
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try (var proxy = proxy(transport, nginx.http1())) {
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
                        HttpResponse<byte[]> response =
                                client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                        whole += response.statusCode() == 200 && response.body().length == PAGE_BYTES ? 1 : 0;
                    }
                    return whole;
                }));
            }
            for (Future<Integer> one : answered) {
                assertEquals(each, one.get());
            }
            assertRetired(proxy, RetireHow.RESPONSE, threads * each / MAX_REQUESTS - threads, threads * each);
            proxy.abandonConnections(); // the client keeps its last ones
        } finally {
            executor.shutdownNow();
        }
    }

    /** Node's client is told to go away, and makes a new session then, as its documentation has it. */
    @EachTransport
    @Tag("slow")
    void nodeOverHttp2(Wish transport) throws Exception {
        int requests = 5_000;
        Path script = directory.resolve("client.js");
        Files.writeString(script, """
                const http2 = require('http2');
                const [url, total] = [process.argv[2], Number(process.argv[3])];
                let session, started = 0, done = 0, failed = 0, sessions = 0;
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
                      console.log(`done=${done} failed=${failed} sessions=${sessions}`);
                      process.exit(0);
                    }
                    one();
                  };
                  stream.on('response', h => status = h[':status']);
                  stream.on('data', d => size += d.length);
                  stream.on('end', () => end(status === 200 && size === 1000));
                  stream.on('error', e => { console.error(e.code, e.message); end(false); });
                  stream.end();
                }
                for (let i = 0; i < 8; i++) one();
                """);
        try (var proxy = proxy(transport, nginx.http2())) {
            var result = Command.run("node", script.toString(), url(proxy, ""), "" + requests).expectSuccess();

            String report = result.text() + result.errors();
            assertEquals(requests, number(report, "done=(\\d+)"), report);
            assertEquals(0, number(report, "failed=(\\d+)"), report);
            assertRetired(proxy, RetireHow.GOAWAY, requests / (MAX_REQUESTS + 120), requests);
        }
    }

    private static void assertRetired(ProxyFixture proxy, RetireHow how, long least, long requests) {
        long retired = proxy.sum(row -> row.retired(CloseReason.MAX_REQUESTS, how));
        long all = 0;
        for (RetireHow any : RetireHow.values()) {
            all += proxy.sum(row -> row.retired(CloseReason.MAX_REQUESTS, any));
        }
        long otherwise = all - retired;
        System.out.println(requests + " requests: " + retired + " retired by " + how.word() + ", " + otherwise + " otherwise");
        assertTrue(retired >= least, () -> retired + " were retired by " + how.word() + ", not " + least);
        assertTrue(otherwise * 99 <= retired, () -> otherwise + " ended in another way than by " + how.word());
    }

    private static long number(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertTrue(matcher.find(), () -> pattern + " is not in " + text);
        return Long.parseLong(matcher.group(1));
    }
}
