package dev.tidegate.admin;

import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A request that is routed, allowed and read. Immutable.
 *
 * @param route what it calls
 * @param path the values of the path's parameters, by name
 * @param query checked
 * @param body checked
 * @param headers as they came
 * @param caller who asks
 */
record Call(Route route, Map<String, String> path, Values query, Values body, HttpHeaders headers, Caller caller) {
    private static final String MALFORMED =
            "If-Match is no generation; send the ETag of what you have read, as in If-Match: \"7\", or * for any";

    String frontend() {
        return path.get("frontend");
    }

    String backend() {
        return path.get("backend");
    }

    String endpoint() {
        return path.get("endpoint");
    }

    String id() {
        return path.get("id");
    }

    Target.OfEndpoint endpointTarget() {
        return new Target.OfEndpoint(backend(), endpoint());
    }

    boolean isDryRun() {
        return query.isTrue("dryRun");
    }

    WriteContext context() throws Refusal {
        return new WriteContext(caller.toString(), generationSeen(), isDryRun());
    }

    private OptionalLong generationSeen() throws Refusal {
        List<String> given = headers.getAll("if-match");
        if (given.isEmpty() || (given.size() == 1 && given.get(0).strip().equals("*"))) {
            return OptionalLong.empty();
        }
        String tag = given.size() == 1 ? given.get(0).strip() : "";
        if (tag.length() >= 2 && tag.startsWith("\"") && tag.endsWith("\"")) {
            tag = tag.substring(1, tag.length() - 1);
        }
        return OptionalLong.of((Long) Kind.integer(0, Long.MAX_VALUE)
                .parse(tag)
                .orElseThrow(() -> new Refusal(Answer.badRequest(MALFORMED))));
    }
}
