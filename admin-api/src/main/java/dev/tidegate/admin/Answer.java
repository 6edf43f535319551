package dev.tidegate.admin;

import dev.tidegate.admin.view.ChangeView;
import dev.tidegate.admin.view.ProblemDetails;
import dev.tidegate.admin.view.ProblemView;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What a request is answered with. Immutable; the bytes are handed over. */
final class Answer {
    static final String JSON = "application/json";
    static final String PROBLEM = "application/problem+json";
    private static final byte[] NOTHING = new byte[0];

    private final HttpResponseStatus status;
    private final byte[] body;
    private final Map<String, String> headers;
    private final Optional<Written> written;
    private final Optional<StreamOptions> stream;

    /**
     * What a write came to, for the operator's log.
     *
     * @param generation in force after it
     * @param changes what it changed, or would
     */
    record Written(long generation, List<ChangeView> changes) {}

    private Answer(
            HttpResponseStatus status,
            byte[] body,
            Map<String, String> headers,
            Optional<Written> written,
            Optional<StreamOptions> stream) {
        this.status = status;
        this.body = body;
        this.headers = headers;
        this.written = written;
        this.stream = stream;
    }

    private static Answer of(HttpResponseStatus status, String contentType, byte[] body) {
        return new Answer(status, body, Map.of("content-type", contentType), Optional.empty(), Optional.empty());
    }

    static Answer ok(String contentType, byte[] body) {
        return of(HttpResponseStatus.OK, contentType, body);
    }

    static Answer json(HttpResponseStatus status, Object view) {
        return of(status, JSON, Json.bytes(view));
    }

    static Answer text(String text) {
        return ok("text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    static Answer noContent() {
        return new Answer(HttpResponseStatus.NO_CONTENT, NOTHING, Map.of(), Optional.empty(), Optional.empty());
    }

    /** Events, from now on. */
    static Answer stream(StreamOptions options) {
        return new Answer(
                HttpResponseStatus.OK,
                NOTHING,
                Map.of("content-type", "text/event-stream"),
                Optional.empty(),
                Optional.of(options));
    }

    /** An error as RFC 9457 wants it. */
    static Answer problem(HttpResponseStatus status, String detail) {
        return of(
                status,
                PROBLEM,
                Json.bytes(new ProblemDetails("about:blank", status.reasonPhrase(), status.code(), detail, null)));
    }

    /** The same, with what is wrong one by one. */
    static Answer problem(HttpResponseStatus status, String detail, List<ProblemView> problems) {
        return of(
                status,
                PROBLEM,
                Json.bytes(new ProblemDetails(
                        "about:blank", status.reasonPhrase(), status.code(), detail, List.copyOf(problems))));
    }

    static Answer badRequest(String detail) {
        return problem(HttpResponseStatus.BAD_REQUEST, detail);
    }

    static Answer forbidden(String detail) {
        return problem(HttpResponseStatus.FORBIDDEN, detail);
    }

    static Answer unauthorized(boolean tokenGiven, Role needed) {
        String detail = tokenGiven
                ? "the token is not known here; ask for one with the role " + needed.word()
                : "this needs a token with the role " + needed.word() + "; send it as Authorization: Bearer TOKEN";
        String challenge = "Bearer realm=\"tidegate\"" + (tokenGiven ? ", error=\"invalid_token\"" : "");
        return problem(HttpResponseStatus.UNAUTHORIZED, detail).with("www-authenticate", challenge);
    }

    Answer with(String name, String value) {
        Map<String, String> more = new TreeMap<>(headers);
        more.put(name, value);
        return new Answer(status, body, more, written, stream);
    }

    /** Names the generation that it shows. */
    Answer tagged(long generation) {
        return with("etag", "\"" + generation + "\"");
    }

    Answer written(long generation, List<ChangeView> changes) {
        return new Answer(status, body, headers, Optional.of(new Written(generation, changes)), stream);
    }

    HttpResponseStatus status() {
        return status;
    }

    byte[] body() {
        return body;
    }

    Map<String, String> headers() {
        return headers;
    }

    Optional<Written> written() {
        return written;
    }

    Optional<StreamOptions> stream() {
        return stream;
    }
}
