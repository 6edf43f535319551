package dev.tidegate.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code tidegate status}. */
@Command(
        name = "status",
        description = "Shows the running process, its frontends, backends and endpoints. With --output json, what"
                + " /v1/status answers, and beside its members the lists frontends and backends.")
final class StatusCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Map<String, Json> all = new LinkedHashMap<>(client.get("/v1/status").members());
            all.put("frontends", client.get("/v1/frontends"));
            all.put("backends", client.get("/v1/backends"));
            Json status = Json.object(all);
            admin.show(status, StatusText.of(status));
            return Exit.OK;
        });
    }
}
