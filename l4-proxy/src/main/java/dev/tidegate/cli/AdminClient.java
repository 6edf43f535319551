package dev.tidegate.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;

/** Asks the admin API of a running process. Immutable; each call waits for its answer on the thread that calls. */
final class AdminClient {
    private static final int ANSWER_BYTES_MAX = 256 * 1024 * 1024;

    private final ApiAddress address;
    private final Optional<Token> token;
    private final Optional<SSLSocketFactory> tls;
    private final Duration timeout;

    /**
     * @param timeout for a connect and an answer
     * @param tls present if the address is one of TLS
     */
    AdminClient(ApiAddress address, Optional<Token> token, Optional<SSLSocketFactory> tls, Duration timeout) {
        this.address = address;
        this.token = token;
        this.tls = tls;
        this.timeout = timeout;
    }

    /**
     * What shows who asks.
     *
     * @param file where it is from
     * @param secret the token itself
     */
    record Token(Path file, String secret) {
        @Override
        public String toString() {
            return "the token of " + file;
        }
    }

    /** A request. */
    record Request(String method, String target, Map<String, String> headers, Json body) {
        static Request get(String target) {
            return new Request("GET", target, Map.of(), null);
        }

        /** One that changes something. */
        static Request write(String method, String target, Map<String, ?> body) {
            return new Request(method, target, Map.of(), body.isEmpty() ? null : Json.object(body));
        }
    }

    ApiAddress address() {
        return address;
    }

    /** Reads a resource. */
    Json get(String target) throws UnreachableException, RefusedException {
        return ask(Request.get(target));
    }

    /** Sends a request; gives what is answered to it, and for an empty answer an object with the generation it tells. */
    Json ask(Request request) throws UnreachableException, RefusedException {
        try (HttpConnection connection = new HttpConnection(address, tls);
                TimeLimit limit = new TimeLimit(timeout, connection)) {
            try {
                HttpConnection.Answer answer = exchange(connection, request);
                byte[] body = answer.body().readNBytes(ANSWER_BYTES_MAX);
                return accepted(answer, body);
            } catch (IOException e) {
                throw limit.isOver() ? late(e) : unreachable(e);
            }
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    /**
     * Follows server-sent events until the process ends them, or {@code more} says no.
     *
     * @param more told the data of each
     */
    void follow(String target, Predicate<Json> more) throws UnreachableException, RefusedException {
        Request request = new Request("GET", target, Map.of("Accept", "text/event-stream"), null);
        try (HttpConnection connection = new HttpConnection(address, tls)) {
            HttpConnection.Answer answer;
            try (TimeLimit limit = new TimeLimit(timeout, connection)) {
                try {
                    answer = exchange(connection, request);
                    if (answer.status() >= 300) {
                        accepted(answer, answer.body().readNBytes(ANSWER_BYTES_MAX));
                    }
                } catch (IOException e) {
                    throw limit.isOver() ? late(e) : unreachable(e);
                }
            }
            events(answer.body(), more);
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    private static void events(InputStream body, Predicate<Json> more) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
        StringBuilder data = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data:")) {
                data.append(line.substring("data:".length()).strip()).append('\n');
            } else if (line.isEmpty() && data.length() > 0) {
                if (!more.test(Json.read(data.toString().getBytes(StandardCharsets.UTF_8)))) {
                    return;
                }
                data.setLength(0);
            }
        }
    }

    private HttpConnection.Answer exchange(HttpConnection connection, Request request) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Accept", "application/json, application/problem+json");
        token.ifPresent(known -> headers.put("Authorization", "Bearer " + known.secret()));
        headers.putAll(request.headers());
        byte[] body = request.body() == null ? null : request.body().toString().getBytes(StandardCharsets.UTF_8);
        if (body == null && !request.method().equals("GET")) {
            headers.put("Content-Length", "0");
        }
        connection.connect(token.isPresent());
        return connection.exchange(request.method(), request.target(), headers, body);
    }

    private Json accepted(HttpConnection.Answer answer, byte[] body) throws IOException, RefusedException {
        boolean json = answer.header("content-type").contains("json");
        if (answer.status() >= 300) {
            throw refused(answer, json ? Json.read(body) : Json.NOTHING);
        }
        if (body.length == 0) {
            return generation(answer);
        }
        if (!json) {
            throw new HttpConnection.NotHttpException("it answers, but not in JSON: is it an admin API?");
        }
        return Json.read(body);
    }

    private static Json generation(HttpConnection.Answer answer) {
        String tag = answer.header("etag");
        return tag.matches("\"[0-9]{1,18}\"")
                ? Json.object(Map.of("generation", Long.parseLong(tag.substring(1, tag.length() - 1))))
                : Json.object(Map.of());
    }

    private RefusedException refused(HttpConnection.Answer answer, Json problem) {
        String title = problem.text("title").isEmpty() ? answer.reason() : problem.text("title");
        String detail = problem.text("detail");
        String lead = "refused: " + (detail.isEmpty() ? title.toLowerCase(Locale.ROOT) : detail) + " ("
                + answer.status() + ")";
        return new RefusedException(answer.status(), problem, lead + tokenHint(answer.status()));
    }

    private String tokenHint(int status) {
        return switch (status) {
            case 401 ->
                token.map(known -> "; " + known + " is not known there: it must be one of its admin.token-file")
                        .orElse("; no token was sent: give --token-file FILE");
            case 403 ->
                token.map(known -> "; " + known + " is one of too low a role for this, or of none")
                        .orElse("; no token was sent: give --token-file FILE with one whose role may do this");
            default -> "";
        };
    }

    private UnreachableException late(IOException cause) {
        return new UnreachableException(
                address + " does not answer within " + Words.duration(timeout)
                        + "; look at its log, or give it longer with --timeout",
                cause);
    }

    private UnreachableException unreachable(IOException cause) {
        return new UnreachableException("cannot reach Tidegate at " + address + ": " + why(cause), cause);
    }

    private String why(IOException cause) {
        if (cause instanceof UnknownHostException) {
            return "the name is not known";
        }
        if (cause instanceof SSLException) {
            String alert = String.valueOf(cause.getMessage());
            // What a server says that wants a certificate: RFC 8446, section 6.2; before TLS 1.3, any of the others.
            boolean theirs = alert.contains("certificate_required")
                    || alert.contains("bad_certificate")
                    || alert.contains("handshake_failure");
            return "TLS: " + alert
                    + (theirs
                            ? "; where it asks for a certificate, give --certificate FILE and --key FILE"
                            : "; for a certificate of your own, give --ca FILE");
        }
        String said = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        if (!(address instanceof ApiAddress.Unix)) {
            return said.startsWith("Connection refused")
                    ? "nothing listens there; is it running, with this address in admin.listen?"
                    : said;
        }
        if (said.startsWith("No such file or directory")) {
            return "there is no such socket; is it running? Give --admin unix:PATH if it is elsewhere";
        }
        if (said.startsWith("Permission denied")) {
            return "permission denied; become a member of the socket's group, or root";
        }
        return said.startsWith("Connection refused") ? "nothing listens there any more; is it running?" : said;
    }

    /** A name as one segment of a path. */
    static String segment(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** A query of those parameters that have a value; empty when none has. */
    static String query(Map<String, ?> parameters) {
        StringBuilder query = new StringBuilder();
        parameters.forEach((name, value) -> {
            if (value != null) {
                query.append(query.length() == 0 ? '?' : '&')
                        .append(name)
                        .append('=')
                        .append(segment(value.toString()));
            }
        });
        return query.toString();
    }
}
