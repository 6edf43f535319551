package dev.tidegate.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidegate operations}. */
@Command(name = "operations", description = "Shows drains and the like: those under way, and the last that ended.")
final class OperationsCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "ID", description = "One of them; without it, all.")
    private String id;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json answer = client.get("/v1/operations" + (id == null ? "" : "/" + AdminClient.segment(id)));
            admin.show(answer, id == null ? table(answer.items()) : AnswerText.operation(answer));
            return Exit.OK;
        });
    }

    static String table(List<Json> operations) {
        if (operations.isEmpty()) {
            return "no operations";
        }
        Table table = new Table()
                .left("ID")
                .left("KIND")
                .left("TARGET")
                .left("STATE")
                .right("TOTAL")
                .right("LEFT")
                .right("RETIRED")
                .right("CUT")
                .right("A SECOND")
                .right("OLDEST")
                .right("ETA")
                .left("DEADLINE");
        for (Json operation : operations) {
            table.row(
                    operation.text("id"),
                    operation.text("kind"),
                    operation.text("target"),
                    operation.text("state"),
                    operation.number("total"),
                    operation.number("remaining"),
                    operation.number("retired"),
                    operation.number("cut"),
                    Words.rate(operation.decimal("rate_per_second")),
                    age(operation, "oldest_age_ms"),
                    age(operation, "eta_ms"),
                    operation.at("deadline").isThere() ? Words.seconds(operation.text("deadline")) : "-");
        }
        return table.toString();
    }

    private static String age(Json operation, String name) {
        return operation.at(name).isThere() ? Words.age(operation.number(name)) : "-";
    }
}
