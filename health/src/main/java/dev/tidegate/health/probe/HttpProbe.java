package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * A request by HTTP/1.1 or, in cleartext and without asking, HTTP/2: passes by the final status, and by the body if
 * something is to be found in it. Without that the head decides, and the body is not waited for. Immutable.
 *
 * <p>The connection is for one request: HTTP/1.1 says {@code Connection: close} and leaves the first FIN, and so the
 * TIME_WAIT, to the server; HTTP/2 says GOAWAY and does the same. What still comes is discarded up to 1 MiB or 1 s; a check
 * of something larger is better made with HEAD.
 *
 * @param request what is asked
 * @param expected what passes
 * @param http2 whether HTTP/2 is spoken
 */
public record HttpProbe(Request request, Expected expected, boolean http2) implements Probe {
    static final int BODY_MAX_BYTES = 64 * 1024;
    static final int HEAD_MAX_BYTES = 64 * 1024;
    static final int LINE_MAX_BYTES = 8 * 1024;

    /** Says who asks, unless the request's headers say it. */
    static final String USER_AGENT = "tidegate-health";

    @Override
    public Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done) {
        String authority = request.host.orElse(context.subject().address());
        if (http2) {
            Http2Call call = Http2Call.of(done);
            return call.begin(context, address, new HttpOverHttp2(request, authority, expected, call));
        }
        Conversation conversation = new Conversation(done, PoliteClose::finSecond);
        return conversation.begin(
                context, address, new HttpOverHttp1(request, authority, expected, conversation)::addTo);
    }

    /**
     * What is asked. Without a body.
     *
     * @param method such as GET
     * @param path the request target, with its query
     * @param host the Host header or {@code :authority}; empty: the target's configured address
     * @param headers further ones, in order
     */
    public record Request(String method, String path, Optional<String> host, List<Header> headers) {
        private static final Pattern METHOD = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
        private static final Pattern VISIBLE = Pattern.compile("[\\x21-\\x7e]+");

        /**
         * Copies the list.
         *
         * @throws IllegalArgumentException if a text would break the request
         */
        public Request {
            headers = List.copyOf(headers);
            require(METHOD, "method", method);
            require(VISIBLE, "path", path);
            host.ifPresent(text -> require(VISIBLE, "host", text));
        }

        boolean hasHeader(String name) {
            return headers.stream().anyMatch(header -> header.name.equalsIgnoreCase(name));
        }

        /** Methods that a server may refuse without a word on the body's length. */
        boolean saysLength() {
            return method.equals("POST") || method.equals("PUT") || method.equals("PATCH");
        }
    }

    /**
     * A header of the request.
     *
     * @param name as sent; HTTP/2 has it in lower case
     * @param value without blanks around it
     */
    public record Header(String name, String value) {
        private static final Pattern NAME = Request.METHOD;
        private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e\\t]*");

        /**
         * Checks both.
         *
         * @throws IllegalArgumentException if one would break the request
         */
        public Header {
            require(NAME, "header", name);
            require(VALUE, "header " + name, value);
        }
    }

    /**
     * What the answer means. A status in neither list fails.
     *
     * @param passing statuses that pass, in the order they are told in
     * @param notReady statuses that mean "not ready"
     * @param body found in the first 64 KiB of the body of a passing answer, read as UTF-8, or it fails
     */
    public record Expected(List<Statuses> passing, List<Statuses> notReady, Optional<Regex> body) {
        /** Copies the lists. */
        public Expected {
            passing = List.copyOf(passing);
            notReady = List.copyOf(notReady);
            Objects.requireNonNull(body, "body");
        }
    }

    /**
     * Status codes from one to another, both included.
     *
     * @param from the lowest
     * @param to the highest
     */
    public record Statuses(int from, int to) {
        boolean has(int status) {
            return status >= from && status <= to;
        }

        /** As in {@code 204} or {@code 200-399}. */
        @Override
        public String toString() {
            return from == to ? String.valueOf(from) : from + "-" + to;
        }
    }

    private static void require(Pattern pattern, String name, String text) {
        if (!pattern.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    name + " \"" + Printable.line(text) + "\" has a character that HTTP does not allow there");
        }
    }
}
