package dev.tidegate.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** What a request is answered with. Immutable; the bytes are handed over. */
final class Answer {
    private static final JsonFactory JSON = new JsonFactory();

    private final HttpResponseStatus status;
    private final String contentType;
    private final byte[] body;
    private final String allow;

    private Answer(HttpResponseStatus status, String contentType, byte[] body, String allow) {
        this.status = status;
        this.contentType = contentType;
        this.body = body;
        this.allow = allow;
    }

    /** Writes the members of an object. */
    interface Members {
        void write(JsonGenerator json) throws IOException;
    }

    static Answer ok(String contentType, byte[] body) {
        return new Answer(HttpResponseStatus.OK, contentType, body, null);
    }

    static Answer json(HttpResponseStatus status, Members members) {
        return new Answer(status, "application/json", object(members), null);
    }

    static Answer text(String text) {
        return ok("text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /** An error as RFC 9457 wants it. */
    static Answer problem(HttpResponseStatus status, String detail) {
        return new Answer(
                status,
                "application/problem+json",
                object(json -> {
                    json.writeStringField("type", "about:blank");
                    json.writeStringField("title", status.reasonPhrase());
                    json.writeNumberField("status", status.code());
                    json.writeStringField("detail", detail);
                }),
                null);
    }

    Answer allowing(String methods) {
        return new Answer(status, contentType, body, methods);
    }

    HttpResponseStatus status() {
        return status;
    }

    String contentType() {
        return contentType;
    }

    byte[] body() {
        return body;
    }

    /** The methods that the resource knows; null when the answer is not about methods. */
    String allow() {
        return allow;
    }

    private static byte[] object(Members members) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(out)) {
            json.writeStartObject();
            members.write(json);
            json.writeEndObject();
            json.writeRaw('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }
}
