package dev.tidegate.admin;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.view.LogLevelView;
import dev.tidegate.admin.view.ProblemView;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The calls that change something: each becomes one command, and its outcome an answer. Confined to the admin loop. */
final class Writes {
    private final ProxyOperations operations;

    Writes(ProxyOperations operations) {
        this.operations = operations;
    }

    CompletionStage<Answer> drainProcess(Call call) throws Refusal {
        return drain(call, new Target.Process());
    }

    CompletionStage<Answer> undrainProcess(Call call) throws Refusal {
        return execute(call, new Command.Undrain(new Target.Process()));
    }

    CompletionStage<Answer> drainFrontend(Call call) throws Refusal {
        return drain(call, new Target.OfFrontend(call.frontend()));
    }

    CompletionStage<Answer> undrainFrontend(Call call) throws Refusal {
        return execute(call, new Command.Undrain(new Target.OfFrontend(call.frontend())));
    }

    CompletionStage<Answer> drainBackend(Call call) throws Refusal {
        return drain(call, new Target.OfBackend(call.backend()));
    }

    CompletionStage<Answer> undrainBackend(Call call) throws Refusal {
        return execute(call, new Command.Undrain(new Target.OfBackend(call.backend())));
    }

    CompletionStage<Answer> drainEndpoint(Call call) throws Refusal {
        return drain(call, call.endpointTarget());
    }

    CompletionStage<Answer> undrainEndpoint(Call call) throws Refusal {
        return execute(call, new Command.Undrain(call.endpointTarget()));
    }

    private CompletionStage<Answer> drain(Call call, Target target) throws Refusal {
        Optional<Duration> deadline = call.body().duration("deadline");
        Optional<Duration> spread = call.body().duration("spread");
        if (deadline.isPresent() && spread.isPresent() && spread.get().compareTo(deadline.get()) > 0) {
            throw BodyReader.invalid(List.of(new ProblemView(
                    0,
                    0,
                    "spread",
                    text(spread.get()) + " is longer than the deadline, " + text(deadline.get()),
                    "give a spread within the deadline")));
        }
        return execute(
                call,
                new Command.Drain(
                        target, deadline, spread, call.body().text("mode").map(Writes::drainMode)));
    }

    /** In the largest unit that it is a whole number of, as it would be sent. */
    private static String text(Duration duration) {
        long millis = duration.toMillis();
        for (ChronoUnit unit : List.of(ChronoUnit.DAYS, ChronoUnit.HOURS, ChronoUnit.MINUTES, ChronoUnit.SECONDS)) {
            long unitMillis = unit.getDuration().toMillis();
            if (millis > 0 && millis % unitMillis == 0) {
                return millis / unitMillis + unit.name().substring(0, 1).toLowerCase(Locale.ROOT);
            }
        }
        return millis + "ms";
    }

    CompletionStage<Answer> disable(Call call) throws Refusal {
        return execute(call, new Command.Disable(call.endpointTarget()));
    }

    CompletionStage<Answer> enable(Call call) throws Refusal {
        return execute(call, new Command.Enable(call.endpointTarget()));
    }

    CompletionStage<Answer> setWeight(Call call) throws Refusal {
        int weight = call.body().integer("weight").orElseThrow();
        return execute(call, new Command.SetWeight(call.endpointTarget(), weight));
    }

    CompletionStage<Answer> resetWeight(Call call) throws Refusal {
        return execute(call, new Command.ResetWeight(call.endpointTarget()));
    }

    CompletionStage<Answer> addEndpoint(Call call) throws Refusal {
        Values body = call.body();
        String address = body.requiredText("address");
        String name = body.text("name").orElse(address);
        Command command = new Command.AddEndpoint(
                call.backend(), name, address, body.integer("weight"), body.integer("max_connections"));
        String location = "/v1/backends/" + encode(call.backend()) + "/endpoints/" + encode(name);
        return operations
                .execute(command, call.context())
                .thenApply(outcome -> outcome instanceof Outcome.Done done && !call.isDryRun()
                        ? done(done, HttpResponseStatus.CREATED).with("location", location)
                        : answer(outcome));
    }

    CompletionStage<Answer> removeEndpoint(Call call) throws Refusal {
        Command.RemovePolicy policy = call.query()
                .text("policy")
                .map(word -> Command.RemovePolicy.valueOf(constant(word)))
                .orElse(Command.RemovePolicy.DRAIN);
        return execute(call, new Command.RemoveEndpoint(call.endpointTarget(), policy));
    }

    CompletionStage<Answer> rebalance(Call call) throws Refusal {
        return execute(call, new Command.Rebalance(call.backend(), call.body().duration("spread")));
    }

    CompletionStage<Answer> closeConnection(Call call) throws Refusal {
        Command.CloseMode mode = call.query()
                .text("mode")
                .map(word -> Command.CloseMode.valueOf(constant(word)))
                .orElse(Command.CloseMode.GRACEFUL);
        return execute(call, new Command.CloseConnection(call.id(), mode));
    }

    CompletionStage<Answer> reload(Call call) throws Refusal {
        return execute(call, new Command.Reload());
    }

    CompletionStage<Answer> upgrade(Call call) throws Refusal {
        return execute(call, new Command.Upgrade());
    }

    CompletionStage<Answer> setLogLevel(Call call) throws Refusal {
        String level = call.body().requiredText("level");
        Command command = new Command.SetLogLevel(Command.LogLevel.valueOf(constant(level)));
        return operations
                .execute(command, call.context())
                .thenApply(outcome -> outcome instanceof Outcome.Done done && done.body() == null
                        ? answer(new Outcome.Done(done.generation(), done.changes(), new LogLevelView(level)))
                        : answer(outcome));
    }

    private CompletionStage<Answer> execute(Call call, Command command) throws Refusal {
        return operations.execute(command, call.context()).thenApply(Writes::answer);
    }

    private static Answer answer(Outcome outcome) {
        if (outcome instanceof Outcome.Done done) {
            return done(done, HttpResponseStatus.OK);
        }
        if (outcome instanceof Outcome.Started started) {
            return Answer.json(HttpResponseStatus.ACCEPTED, started.operation())
                    .tagged(started.generation())
                    .with(
                            "location",
                            "/v1/operations/" + encode(started.operation().id()))
                    .written(started.generation(), started.changes());
        }
        if (outcome instanceof Outcome.Compared compared) {
            return Answer.json(HttpResponseStatus.OK, compared.diff())
                    .tagged(compared.diff().generation())
                    .written(compared.diff().generation(), compared.diff().changes());
        }
        return refused((Outcome.Refused) outcome);
    }

    private static Answer done(Outcome.Done done, HttpResponseStatus status) {
        Answer answer = done.body() == null ? Answer.noContent() : Answer.json(status, done.body());
        return answer.tagged(done.generation()).written(done.generation(), done.changes());
    }

    private static Answer refused(Outcome.Refused refused) {
        HttpResponseStatus status =
                switch (refused.why()) {
                    case NOT_FOUND -> HttpResponseStatus.NOT_FOUND;
                    case CONFLICT -> HttpResponseStatus.CONFLICT;
                    case STALE -> HttpResponseStatus.PRECONDITION_FAILED;
                    case INVALID -> HttpResponseStatus.UNPROCESSABLE_ENTITY;
                    case UNAVAILABLE -> HttpResponseStatus.SERVICE_UNAVAILABLE;
                };
        boolean listed =
                refused.why() == Outcome.Why.INVALID || !refused.problems().isEmpty();
        return listed
                ? Answer.problem(status, refused.detail(), refused.problems())
                : Answer.problem(status, refused.detail());
    }

    private static Command.DrainMode drainMode(String word) {
        return Command.DrainMode.valueOf(constant(word));
    }

    private static String constant(String word) {
        return word.toUpperCase(Locale.ROOT);
    }

    /** A name as one segment of a path. */
    static String encode(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
