package dev.tidegate.cli;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.ConfigDiff;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code tidegate diff}. */
@Command(
        name = "diff",
        description = "Shows what a reload would change if the file were the running process's: what is added, removed"
                + " and changed, and how many connections each removal retires. Changes nothing.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:shown; the last line says how many changes there are",
            "1:the file is invalid, or the running process refused",
            "2:wrong usage",
            "69:the running process cannot be reached, or does not answer"
        })
final class DiffCommand implements Callable<Integer> {
    @Mixin
    private ConfigOption config;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json status = client.get("/v1/status");
            Json diff;
            if (isItsOwnFile(client.address(), status)) {
                // The process knows best what it would do, its own environment and the operator's changes included.
                diff = client.ask(AdminClient.Request.write("POST", "/v1/reload?dryRun=true", Map.of()));
            } else {
                ConfigResult file = ConfigReader.read(config.file(), System::getenv);
                if (admin.json() && file.config().isEmpty()) {
                    admin.out().println(CheckCommand.json(false, file).pretty());
                    return Exit.FAILED;
                }
                file.problems().forEach(problem -> admin.err().println(problem));
                if (file.config().isEmpty()) {
                    return Exit.FAILED;
                }
                diff = compared(client, status, file.config().get());
            }
            admin.show(diff, AnswerText.of(diff, "no change"));
            return Exit.OK;
        });
    }

    private boolean isItsOwnFile(ApiAddress address, Json status) {
        String running = status.text("config");
        try {
            // Over TCP, a file of the same name may be one of another machine.
            return address instanceof ApiAddress.Unix
                    && running.startsWith("/")
                    && Files.isSameFile(Path.of(running), config.file());
        } catch (IOException notThere) {
            return false; // then it is read here, and whatever is wrong with it is told
        }
    }

    private Json compared(AdminClient client, Json status, Config file) throws UnreachableException, RefusedException {
        String text = client.get("/v1/config").toString().replace("${", "$${"); // values are final: nothing to expand
        ConfigResult running = ConfigReader.readText("running", text.getBytes(StandardCharsets.UTF_8), name -> null);
        Config inForce = running.config()
                .orElseThrow(() -> new UnreachableException(
                        "the configuration in force cannot be read by this version: "
                                + running.problems().get(0)
                                + "; use the command line of the running version",
                        null));
        boolean adoptsSockets = status.text("transport").equals("epoll");
        return diff(
                status.number("generation"), ConfigDiff.between(inForce, file, OpenByApi.ask(client), adoptsSockets));
    }

    private static Json diff(long generation, ConfigDiff diff) {
        List<Object> changes = new ArrayList<>();
        for (ConfigDiff.Change change : diff.changes()) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("op", change.op().word());
            members.put("path", change.path());
            members.put("from", change.op() == ConfigDiff.Op.ADD ? null : change.from());
            members.put("to", change.op() == ConfigDiff.Op.REMOVE ? null : change.to());
            members.put("applies", change.applies().word());
            members.put("connections", change.connections());
            changes.add(members);
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("generation", generation);
        members.put("changes", changes);
        return Json.object(members);
    }
}
