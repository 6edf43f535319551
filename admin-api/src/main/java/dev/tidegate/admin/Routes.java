package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which resource answers which request. Reading changes nothing. Confined to the admin loop. */
final class Routes {
    private static final Logger log = LoggerFactory.getLogger(Routes.class);
    private static final String READ = "GET, HEAD";

    private final ProxyOperations operations;
    private final Map<String, Resource> resources =
            Map.of("/livez", this::livez, "/readyz", this::readyz, "/metrics", this::metrics);

    /** A thing that can be read. */
    private interface Resource {
        Answer read(HttpRequest request, QueryStringDecoder target) throws IOException;
    }

    Routes(ProxyOperations operations) {
        this.operations = operations;
    }

    Answer answer(HttpRequest request) {
        try {
            QueryStringDecoder target = new QueryStringDecoder(request.uri());
            Resource resource = resources.get(target.rawPath());
            if (resource == null) {
                return Answer.problem(HttpResponseStatus.NOT_FOUND, "there is nothing at " + target.rawPath());
            }
            if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
                return Answer.problem(
                                HttpResponseStatus.METHOD_NOT_ALLOWED,
                                target.rawPath() + " does not know " + request.method() + "; it knows " + READ)
                        .allowing(READ);
            }
            return resource.read(request, target);
        } catch (IllegalArgumentException e) {
            return Answer.problem(
                    HttpResponseStatus.BAD_REQUEST, "the request target cannot be read: " + e.getMessage());
        } catch (IOException | RuntimeException e) {
            log.error("admin request failed method={} target={}", request.method(), request.uri(), e);
            return Answer.problem(HttpResponseStatus.INTERNAL_SERVER_ERROR, "the log says more");
        }
    }

    private Answer livez(HttpRequest request, QueryStringDecoder target) {
        return Answer.text("live\n");
    }

    private Answer readyz(HttpRequest request, QueryStringDecoder target) {
        List<String> named = target.parameters().getOrDefault("frontend", List.of());
        if (named.size() > 1) {
            return Answer.problem(HttpResponseStatus.BAD_REQUEST, "frontend is given more than once; give it once");
        }
        Optional<String> frontend = named.stream().findFirst();
        Readiness readiness = operations.readiness(frontend);
        boolean unknown = frontend.isPresent()
                && readiness.frontends().isEmpty()
                && readiness.state() != Readiness.State.STARTING;
        if (unknown) {
            return Answer.problem(HttpResponseStatus.NOT_FOUND, "there is no frontend \"" + frontend.get() + "\"");
        }
        HttpResponseStatus status = readiness.ready() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
        return Answer.json(status, json -> {
            json.writeBooleanField("ready", readiness.ready());
            json.writeStringField("state", readiness.state().word());
            json.writeArrayFieldStart("without_candidate");
            for (String name : readiness.withoutCandidate()) {
                json.writeString(name);
            }
            json.writeEndArray();
        });
    }

    private Answer metrics(HttpRequest request, QueryStringDecoder target) throws IOException {
        MetricsFormat format = Accepts.openMetrics(request.headers().getAll("accept"))
                ? MetricsFormat.OPENMETRICS
                : MetricsFormat.PROMETHEUS_TEXT;
        ByteArrayOutputStream out = new ByteArrayOutputStream(64 * 1024);
        operations.writeMetrics(format, out);
        return Answer.ok(format.contentType(), out.toByteArray());
    }

    /** What of an {@code Accept} header matters here. */
    static final class Accepts {
        private Accepts() {}

        /** Whether OpenMetrics 1.0 is wanted at least as much as plain text (RFC 9110, section 12.5.1). */
        static boolean openMetrics(List<String> accept) {
            double openMetrics = 0;
            double text = 0;
            for (String header : accept) {
                for (String range : header.toLowerCase(Locale.ROOT).split(",", -1)) {
                    String type = range.split(";", -1)[0].strip();
                    if (type.equals("application/openmetrics-text") && version(range)) {
                        openMetrics = Math.max(openMetrics, quality(range));
                    } else if (type.equals("text/plain")) {
                        text = Math.max(text, quality(range));
                    }
                }
            }
            return openMetrics > 0 && openMetrics >= text;
        }

        private static boolean version(String range) {
            String version = parameter(range, "version", "1.0.0");
            return version.equals("1.0.0") || version.equals("0.0.1");
        }

        private static double quality(String range) {
            try {
                return Double.parseDouble(parameter(range, "q", "1"));
            } catch (NumberFormatException e) {
                return 0; // a weight that is none is no wish
            }
        }

        private static String parameter(String range, String name, String otherwise) {
            for (String part : range.split(";", -1)) {
                String trimmed = part.strip();
                if (trimmed.startsWith(name + "=")) {
                    return trimmed.substring(name.length() + 1)
                            .replace("\"", "")
                            .strip();
                }
            }
            return otherwise;
        }
    }
}
