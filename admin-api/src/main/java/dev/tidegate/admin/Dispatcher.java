package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a request from its head to its answer: route, role, query, body, and then the call. Whoever may not is told so
 * before their body is looked at. Confined to the admin loop.
 */
final class Dispatcher {
    private static final Logger log = LoggerFactory.getLogger(Dispatcher.class);

    private final Router router;

    /**
     * A request whose head was looked at.
     *
     * @param caller who asks
     * @param match what they call; null when there is a refusal
     * @param query checked; null when there is a refusal
     * @param refusal what to refuse it with; null when it may go on
     */
    record Admission(Caller caller, Router.Match match, Values query, Answer refusal) {}

    Dispatcher(Router router) {
        this.router = router;
    }

    Admission admit(HttpRequest request, Gate gate, String from) {
        Caller caller = gate.caller(request.headers(), from);
        try {
            QueryStringDecoder target = new QueryStringDecoder(request.uri());
            Router.Match match = router.match(request.method(), target.rawPath());
            Answer refusal = gate.refusal(match.route(), caller);
            if (refusal != null) {
                return new Admission(caller, null, null, refusal);
            }
            return new Admission(caller, match, Router.query(match.route(), target), null);
        } catch (Refusal e) {
            return new Admission(caller, null, null, e.answer());
        } catch (IllegalArgumentException e) {
            return new Admission(
                    caller, null, null, Answer.badRequest("the request target cannot be read: " + e.getMessage()));
        }
    }

    /**
     * Reads the body of an admitted request.
     *
     * @throws Refusal when it cannot be taken
     */
    Call read(Admission admission, HttpRequest request, byte[] body) throws Refusal {
        Route route = admission.match().route();
        if (!route.isWrite() && body.length > 0) {
            throw new Refusal(Answer.badRequest(route + " takes no body"));
        }
        if (body.length > 0 && !isJson(request.headers().getAll(HttpHeaderNames.CONTENT_TYPE))) {
            throw new Refusal(Answer.problem(
                    HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE, "send the body with Content-Type: application/json"));
        }
        Values values = BodyReader.read(body, route.body());
        return new Call(
                route, admission.match().path(), admission.query(), values, request.headers(), admission.caller());
    }

    /** Carries a call out. The stage never fails; it may complete on any thread. */
    CompletionStage<Answer> carryOut(Call call) {
        try {
            return call.route().handler().answer(call).exceptionally(fault -> failed(call, fault));
        } catch (Refusal e) {
            return CompletableFuture.completedFuture(e.answer());
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(failed(call, e));
        }
    }

    private static Answer failed(Call call, Throwable fault) {
        Throwable cause = fault instanceof CompletionException && fault.getCause() != null ? fault.getCause() : fault;
        log.error("admin request failed call={}", call.route(), cause);
        return Answer.problem(HttpResponseStatus.INTERNAL_SERVER_ERROR, "the log says more");
    }

    private static boolean isJson(List<String> contentType) {
        if (contentType.size() != 1) {
            return false;
        }
        String[] parts = contentType.get(0).toLowerCase(Locale.ROOT).split(";", -1);
        boolean utf8 = parts.length == 1
                || (parts.length == 2 && parts[1].strip().replace("\"", "").equals("charset=utf-8"));
        return parts[0].strip().equals("application/json") && utf8;
    }
}
