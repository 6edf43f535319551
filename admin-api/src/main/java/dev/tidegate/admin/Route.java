package dev.tidegate.admin;

import io.netty.handler.codec.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One call of the API: all that routing, checking and describing it needs. Immutable.
 *
 * @param method GET, POST, PUT or DELETE; GET serves HEAD too, and changes nothing
 * @param template the path; what stands in braces is a parameter and matches one segment
 * @param role who may
 * @param openLocally whether anyone may on loopback and UNIX sockets
 * @param id of the operation in the API's description
 * @param summary what it does
 * @param query its query parameters
 * @param body the members of its body, all at the top
 * @param replies how it may come out well
 * @param handler what does it
 */
record Route(
        HttpMethod method,
        String template,
        Role role,
        boolean openLocally,
        String id,
        String summary,
        List<Field> query,
        List<Field> body,
        List<Reply> replies,
        Handler handler) {
    /** Does what a call asks for. */
    @FunctionalInterface
    interface Handler {
        /** Called on the admin loop, must not wait; the stage may complete on any thread. */
        CompletionStage<Answer> answer(Call call) throws Refusal;
    }

    Route {
        query = List.copyOf(query);
        body = List.copyOf(body);
        replies = List.copyOf(replies);
    }

    static Route get(String template, Role role, String id, String summary, Handler handler) {
        return new Route(HttpMethod.GET, template, role, false, id, summary, List.of(), List.of(), List.of(), handler);
    }

    /** A write; it takes a dry run. */
    static Route write(HttpMethod method, String template, Role role, String id, String summary, Handler handler) {
        Field dryRun =
                Field.optional("dryRun", Kind.yesOrNo(), "true: answer what it would change, and change nothing");
        return new Route(method, template, role, false, id, summary, List.of(dryRun), List.of(), List.of(), handler);
    }

    Route openOnLoopback() {
        return new Route(method, template, role, true, id, summary, query, body, replies, handler);
    }

    Route query(Field... fields) {
        List<Field> more = new ArrayList<>(query);
        more.addAll(List.of(fields));
        return new Route(method, template, role, openLocally, id, summary, more, body, replies, handler);
    }

    Route body(Field... fields) {
        return new Route(method, template, role, openLocally, id, summary, query, List.of(fields), replies, handler);
    }

    Route reply(int status, Shape shape, String description) {
        List<Reply> more = new ArrayList<>(replies);
        more.add(new Reply(status, shape, description));
        return new Route(method, template, role, openLocally, id, summary, query, body, more, handler);
    }

    boolean isWrite() {
        return !method.equals(HttpMethod.GET);
    }

    /** Whether it ignores a query: what is open to all and has no parameters is called by tools that add their own. */
    boolean ignoresQuery() {
        return query.isEmpty() && (role == Role.ANYONE || openLocally);
    }

    /** The values of the path's parameters, in their order; empty when the path is another. */
    Optional<List<String>> match(String[] path) {
        String[] parts = segments(template);
        if (parts.length != path.length) {
            return Optional.empty();
        }
        List<String> values = new ArrayList<>();
        for (int i = 0; i < parts.length; i++) {
            if (isParameter(parts[i])) {
                values.add(path[i]);
            } else if (!parts[i].equals(path[i])) {
                return Optional.empty();
            }
        }
        return Optional.of(values);
    }

    /** The names of the path's parameters, in their order. */
    List<String> pathParameters() {
        List<String> names = new ArrayList<>();
        for (String part : segments(template)) {
            if (isParameter(part)) {
                names.add(part.substring(1, part.length() - 1));
            }
        }
        return names;
    }

    static String[] segments(String path) {
        return path.split("/", -1);
    }

    private static boolean isParameter(String part) {
        return part.startsWith("{");
    }

    @Override
    public String toString() {
        return method + " " + template;
    }
}
