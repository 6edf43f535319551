package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.control.Proxy;
import dev.tidegate.testkit.Await;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** An operator at a proxy: writes commands, and watches what comes of them. */
final class OperatorFixture {
    private static final WriteContext PLAIN = new WriteContext("test", OptionalLong.empty(), false);
    private static final WriteContext DRY = new WriteContext("test", OptionalLong.empty(), true);

    private final Proxy proxy;

    OperatorFixture(Proxy proxy) {
        this.proxy = proxy;
    }

    Outcome execute(Command command) throws Exception {
        return execute(command, PLAIN);
    }

    Outcome tryOut(Command command) throws Exception {
        return execute(command, DRY);
    }

    Outcome execute(Command command, WriteContext context) throws Exception {
        return proxy.execute(command, context).get(10, TimeUnit.SECONDS);
    }

    /** Fails with the refusal's words when it is refused. */
    Outcome.Done done(Command command) throws Exception {
        return assertInstanceOf(Outcome.Done.class, execute(command));
    }

    OperationView started(Command command) throws Exception {
        return assertInstanceOf(Outcome.Started.class, execute(command)).operation();
    }

    Outcome.Refused refused(Command command) throws Exception {
        return assertInstanceOf(Outcome.Refused.class, execute(command));
    }

    OperationView drain(Target target) throws Exception {
        return started(new Command.Drain(target, Optional.empty(), Optional.empty(), Optional.empty()));
    }

    OperationView drain(Target target, Duration deadline, Duration spread, DrainMode mode) throws Exception {
        return started(
                new Command.Drain(target, Optional.ofNullable(deadline), Optional.of(spread), Optional.of(mode)));
    }

    void undrain(Target target) throws Exception {
        done(new Command.Undrain(target));
    }

    /** An operation as it is now. */
    OperationView look(String id) throws Exception {
        return proxy.operations().get(10, TimeUnit.SECONDS).stream()
                .filter(operation -> operation.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no operation " + id));
    }

    /** Waits until it is in that state. */
    OperationView await(String id, String state) throws Exception {
        Await.until("operation " + id + " is " + state, () -> {
            try {
                return look(id).state().equals(state);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        return look(id);
    }

    static Target.OfEndpoint endpoint(String name) {
        return new Target.OfEndpoint("back", name);
    }
}
