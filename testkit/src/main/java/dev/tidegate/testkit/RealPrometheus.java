package dev.tidegate.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A real Prometheus on a loopback port that scrapes one target every second.
 *
 * <pre>{@code
 * try (RealPrometheus prometheus = RealPrometheus.scraping("tidegate", admin)) {
 *     prometheus.awaitScraped(2);
 *     assertEquals(1, prometheus.query("up").size());
 * }
 * }</pre>
 */
public final class RealPrometheus implements AutoCloseable {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final int CALL_BOUND_MILLIS = 10_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final RunningTool running;
    private final String job;

    private RealPrometheus(String job, InetSocketAddress target) {
        this.job = job;
        running = Tool.require("prometheus").listen((port, directory) -> {
            Path conf = directory.write("prometheus.yml", """
                    scrape_configs:
                      - job_name: %s
                        scrape_interval: 1s
                        scrape_timeout: 1s
                        static_configs: [{targets: ["%s"]}]
                    """.formatted(job, HostPort.of(target)));
            return List.of(
                    "--config.file=" + conf,
                    "--storage.tsdb.path=" + directory.path().resolve("data"),
                    "--web.listen-address=127.0.0.1:" + port,
                    "--log.level=warn");
        });
    }

    /** Starts one; {@code job} is the label that what it reads gets. */
    public static RealPrometheus scraping(String job, InetSocketAddress target) {
        return new RealPrometheus(job, target);
    }

    /** Waits until the target has answered so many scrapes. */
    public void awaitScraped(int times) {
        String scrapes = "sum_over_time(up{job=\"" + job + "\"}[10m]) >= " + times;
        if (!Await.tryUntil(BOUND, () -> !query(scrapes).isEmpty())) {
            throw new AssertionError("not scraped " + times + " times after " + Await.words(BOUND) + ": " + running);
        }
    }

    /**
     * What an expression gives now: the series, with their labels and values, as the HTTP API answers them.
     *
     * @throws AssertionError with what Prometheus says when it cannot be evaluated
     */
    public JsonNode query(String expression) {
        return call("/api/v1/query", "query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .get("result");
    }

    /** Names of all metrics that it has seen. */
    public Set<String> metricNames() {
        Set<String> names = new TreeSet<>();
        call("/api/v1/label/__name__/values", "").forEach(name -> names.add(name.asText()));
        return names;
    }

    private JsonNode call(String path, String form) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create("http://" + HostPort.of(running.address()) + path)
                            .toURL()
                            .openConnection();
            connection.setConnectTimeout(CALL_BOUND_MILLIS);
            connection.setReadTimeout(CALL_BOUND_MILLIS);
            connection.setRequestProperty("Connection", "close");
            if (!form.isEmpty()) {
                connection.setDoOutput(true);
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(form.getBytes(StandardCharsets.UTF_8));
                }
            }
            try (InputStream in =
                    connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                JsonNode answer = JSON.readTree(in);
                if (!answer.path("status").asText().equals("success")) {
                    throw new AssertionError(path + " " + form + ": " + answer);
                }
                return answer.get("data");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Prometheus does not answer: " + running, e);
        }
    }

    @Override
    public void close() {
        running.close();
    }

    @Override
    public String toString() {
        return "RealPrometheus[" + running + "]";
    }
}
