package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import java.util.Locale;

/** What a request must be like before anyone looks at what it wants. Immutable. */
final class RequestCheck {
    private final HostCheck hosts;
    private final String scheme;
    private final int bodyBytesMax;

    RequestCheck(HostCheck hosts, String scheme, int bodyBytesMax) {
        this.hosts = hosts;
        this.scheme = scheme;
        this.bodyBytesMax = bodyBytesMax;
    }

    /**
     * Looks at a request's head.
     *
     * @return what to refuse it with; null when it may pass
     */
    Answer refusal(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            return unreadable(request.decoderResult().cause());
        }
        HttpVersion version = request.protocolVersion();
        if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
            return Answer.problem(
                    HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED, version + " is not spoken here; use HTTP/1.1");
        }
        Answer refusal = host(request);
        if (refusal == null) {
            refusal = origin(request.headers());
        }
        return refusal != null ? refusal : body(request);
    }

    private Answer host(HttpRequest request) {
        List<String> host = request.headers().getAll(HttpHeaderNames.HOST);
        if (host.size() > 1 || (host.isEmpty() && request.protocolVersion().equals(HttpVersion.HTTP_1_1))) {
            return Answer.problem(
                    HttpResponseStatus.BAD_REQUEST, "a request has one Host, this one has " + host.size());
        }
        if (!host.isEmpty() && !hosts.allows(host.get(0))) {
            return Answer.problem(
                    HttpResponseStatus.MISDIRECTED_REQUEST,
                    "Host \"" + host.get(0) + "\" is not this server; " + hosts.wanted());
        }
        if (!request.uri().startsWith("/")) {
            return Answer.problem(
                    HttpResponseStatus.BAD_REQUEST, "the request target must be a path that begins with /");
        }
        return null;
    }

    private Answer origin(HttpHeaders headers) {
        String own = scheme + "://" + headers.get(HttpHeaderNames.HOST);
        for (String origin : headers.getAll(HttpHeaderNames.ORIGIN)) {
            if (!origin.equalsIgnoreCase(own)) {
                return Answer.problem(
                        HttpResponseStatus.FORBIDDEN,
                        "Origin \"" + origin + "\" is foreign; pages from elsewhere may not ask");
            }
        }
        return null;
    }

    private Answer body(HttpRequest request) {
        List<String> encodings = request.headers().getAll(HttpHeaderNames.TRANSFER_ENCODING);
        String codings = String.join(",", encodings).toLowerCase(Locale.ROOT);
        if (codings.indexOf("chunked") != codings.lastIndexOf("chunked")) {
            return Answer.badRequest("the request cannot be read: it is chunked twice");
        }
        if (encodings.size() > 1 || (encodings.size() == 1 && !encodings.get(0).equalsIgnoreCase("chunked"))) {
            return Answer.problem(HttpResponseStatus.NOT_IMPLEMENTED, "the one transfer coding known here is chunked");
        }
        if (HttpUtil.getContentLength(request, 0L) > bodyBytesMax) {
            return bodyTooLarge();
        }
        boolean expects = request.headers().contains(HttpHeaderNames.EXPECT);
        if (expects && !HttpUtil.is100ContinueExpected(request)) {
            return Answer.problem(
                    HttpResponseStatus.EXPECTATION_FAILED, "the one expectation known here is 100-continue");
        }
        return null;
    }

    Answer bodyTooLarge() {
        return Answer.problem(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "a body may have " + bodyBytesMax + " bytes at most");
    }

    static Answer unreadable(Throwable cause) {
        if (cause instanceof TooLongHttpHeaderException) {
            return Answer.problem(HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, cause.getMessage());
        }
        if (cause instanceof TooLongHttpLineException) {
            return Answer.problem(HttpResponseStatus.REQUEST_URI_TOO_LONG, cause.getMessage());
        }
        return Answer.problem(HttpResponseStatus.BAD_REQUEST, "the request cannot be read: " + cause.getMessage());
    }
}
