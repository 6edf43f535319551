package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the route of a request, and reads its path and query. Immutable. */
final class Router {
    private final List<Route> routes;

    /**
     * A route, found.
     *
     * @param route which
     * @param path its parameters by name
     */
    record Match(Route route, Map<String, String> path) {}

    Router(List<Route> routes) {
        this.routes = List.copyOf(routes);
    }

    List<Route> routes() {
        return routes;
    }

    /**
     * Finds the route.
     *
     * @param rawPath still percent-encoded, so that a slash within a name does not split it
     * @throws Refusal 404 or 405; 400 for a name that cannot be decoded
     */
    Match match(HttpMethod method, String rawPath) throws Refusal {
        HttpMethod wanted = method.equals(HttpMethod.HEAD) ? HttpMethod.GET : method;
        String[] path = Route.segments(rawPath);
        List<Route> there = new ArrayList<>();
        for (Route route : routes) {
            Optional<List<String>> values = route.match(path);
            if (values.isPresent() && route.method().equals(wanted)) {
                return new Match(route, named(route, values.get()));
            }
            if (values.isPresent()) {
                there.add(route);
            }
        }
        if (there.isEmpty()) {
            throw new Refusal(Answer.problem(
                    HttpResponseStatus.NOT_FOUND, "there is nothing at " + rawPath + "; GET /openapi.json lists all"));
        }
        String allowed = there.stream().map(Router::methods).distinct().collect(Collectors.joining(", "));
        throw new Refusal(Answer.problem(
                        HttpResponseStatus.METHOD_NOT_ALLOWED,
                        rawPath + " does not know " + method + "; it knows " + allowed)
                .with("allow", allowed));
    }

    /**
     * Reads the query.
     *
     * @throws Refusal 400 for one that the route does not have, that is given twice, or whose value is not taken
     */
    static Values query(Route route, QueryStringDecoder target) throws Refusal {
        Map<String, Object> values = new HashMap<>();
        if (route.ignoresQuery()) {
            return Values.NONE;
        }
        for (Map.Entry<String, List<String>> given : target.parameters().entrySet()) {
            String name = given.getKey();
            Field field = route.query().stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElseThrow(() ->
                            badRequest("the query parameter \"" + name + "\" is not known here; " + known(route)));
            if (given.getValue().size() > 1) {
                throw badRequest(name + " is given more than once; give it once");
            }
            String text = given.getValue().get(0);
            values.put(
                    name,
                    field.kind()
                            .parse(text)
                            .orElseThrow(() -> badRequest(name + ": \"" + text + "\" is not taken; "
                                    + field.kind().wanted())));
        }
        return new Values(values);
    }

    private static Map<String, String> named(Route route, List<String> rawValues) {
        List<String> names = route.pathParameters();
        Map<String, String> named = new HashMap<>();
        for (int i = 0; i < names.size(); i++) {
            named.put(names.get(i), decode(rawValues.get(i)));
        }
        return named;
    }

    // A plus sign is itself in a path.
    private static String decode(String raw) {
        return QueryStringDecoder.decodeComponent(raw.replace("+", "%2B"));
    }

    private static String methods(Route route) {
        return route.method().equals(HttpMethod.GET)
                ? "GET, HEAD"
                : route.method().name();
    }

    private static String known(Route route) {
        return route.query().isEmpty()
                ? route + " takes none"
                : route + " takes " + route.query().stream().map(Field::name).collect(Collectors.joining(", "));
    }

    private static Refusal badRequest(String detail) {
        return new Refusal(Answer.badRequest(detail));
    }
}
