package dev.tidegate.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.testkit.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Serves the status page, and to it what a test says: a stream of events, and answers to writes, which are kept. Its own
 * threads; a test may call from any.
 */
final class StatusPageServer implements AutoCloseable {
    private static final ObjectMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .addModule(new SimpleModule().addSerializer(Instant.class, ToStringSerializer.instance))
            .build();
    private static final String END = "";
    private static final byte[] PAGE = page();
    /** As strict as a policy can be that lets the page run at all. */
    private static final String POLICY = "default-src 'none'; script-src '" + hashOf("script") + "'; style-src '"
            + hashOf("style") + "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'; require-trusted-types-for 'script'";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<BlockingQueue<String>> streams = new CopyOnWriteArrayList<>();
    private final List<Write> writes = new CopyOnWriteArrayList<>();
    private final List<String> streamTokens = new CopyOnWriteArrayList<>();
    private volatile String token = ""; // writer: the test
    private volatile int streamStatus = 200; // writer: the test
    private volatile int writeStatus = 0; // writer: the test; 0: what fits
    private volatile OperationView operation; // writer: the test

    /** A request that is no GET; {@code authorization} is empty when there was none. */
    record Write(String method, String path, String authorization, String contentType, String body) {}

    private record Stats(StatusView status, List<FrontendView> frontends, List<BackendView> backends) {}

    private StatusPageServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    private static byte[] page() {
        try (InputStream in = AdminServer.class.getResourceAsStream("status.html")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("status.html cannot be read", e);
        }
    }

    private static String hashOf(String element) {
        String html = new String(PAGE, StandardCharsets.UTF_8);
        int start = html.indexOf("<" + element + ">") + element.length() + 2;
        String content = html.substring(start, html.indexOf("</" + element + ">"));
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static StatusPageServer start() throws IOException {
        return new StatusPageServer();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /** From now on writes, and if {@code reads} the stream as well, need that token. */
    void require(String wanted, boolean reads) {
        token = wanted;
        streamStatus = reads ? 401 : 200;
    }

    /** From now on the stream is answered so; 200 serves it. */
    void answerStreams(int status) {
        streamStatus = status;
    }

    /** From now on writes are answered so. */
    void answerWrites(int status) {
        writeStatus = status;
    }

    /** What a drain, and a look at an operation, is answered with. */
    void operation(OperationView view) {
        operation = view;
    }

    List<Write> writes() {
        return List.copyOf(writes);
    }

    /** Authorizations of the streams asked for, in order. */
    List<String> streamTokens() {
        return List.copyOf(streamTokens);
    }

    void stats(StatusView status, List<FrontendView> frontends, List<BackendView> backends) throws IOException {
        send("stats", new Stats(status, frontends, backends));
    }

    void event(EventView event) throws IOException {
        send(event.type(), event);
    }

    /** Sends bytes as they are to every stream; waits for the first one. */
    void raw(String text) {
        Await.until("the page follows the stream", () -> !streams.isEmpty());
        streams.forEach(stream -> stream.add(text));
    }

    private void send(String type, Object value) throws IOException {
        raw("event: " + type + "\ndata: " + JSON.writeValueAsString(value) + "\n\n");
    }

    /** Ends every stream. */
    void endStreams() {
        streams.forEach(stream -> stream.add(END));
        streams.clear();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        if (!exchange.getRequestMethod().equals("GET")) {
            write(exchange, path);
        } else if (path.equals("/")) {
            exchange.getResponseHeaders().set("Content-Security-Policy", POLICY);
            answer(exchange, 200, "text/html; charset=utf-8", PAGE);
        } else if (path.equals("/v1/events")) {
            stream(exchange);
        } else if (path.startsWith("/v1/operations/")) {
            answer(exchange, 200, "application/json", JSON.writeValueAsBytes(operation));
        } else {
            problem(exchange, 404, "there is nothing at " + path);
        }
    }

    private void write(HttpExchange exchange, String path) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String method = exchange.getRequestMethod();
        writes.add(new Write(method, path, header(exchange, "Authorization"), header(exchange, "Content-Type"), body));
        if (!token.isEmpty() && !header(exchange, "Authorization").equals("Bearer " + token)) {
            problem(exchange, 401, "needs a token");
        } else if (writeStatus >= 400) {
            problem(exchange, writeStatus, "the answer that the test asked for");
        } else if (method.equals("POST")) {
            answer(exchange, 202, "application/json", JSON.writeValueAsBytes(operation));
        } else {
            answer(exchange, 200, "application/json", "{}".getBytes(StandardCharsets.UTF_8));
        }
    }

    private void stream(HttpExchange exchange) throws IOException {
        String authorization = header(exchange, "Authorization");
        streamTokens.add(authorization);
        boolean known = !token.isEmpty() && authorization.equals("Bearer " + token);
        if (streamStatus != 200 && !(streamStatus == 401 && known)) {
            problem(exchange, streamStatus, "the answer that the test asked for");
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        streams.add(lines);
        try (OutputStream out = exchange.getResponseBody()) {
            for (String next = lines.take(); !next.equals(END); next = lines.take()) {
                out.write(next.getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            streams.remove(lines);
        }
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static void problem(HttpExchange exchange, int status, String detail) throws IOException {
        answer(
                exchange,
                status,
                "application/problem+json",
                JSON.writeValueAsBytes(Map.of("title", "Problem", "status", status, "detail", detail)));
    }

    private static void answer(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    @Override
    public void close() {
        endStreams();
        server.stop(0);
        threads.shutdownNow();
    }
}
