package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tidegate.admin.MetricsFormat;
import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Command.DrainMode;
import dev.tidegate.admin.command.ConnectionFilter;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.ConnectionView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.control.ProcessInfo;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.ProxyAdmin;
import dev.tidegate.telemetry.AccessLog;
import dev.tidegate.telemetry.AccessLogFormat;
import dev.tidegate.telemetry.AccessLogTarget;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.Metrics;
import dev.tidegate.testkit.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** An operator at a proxy: writes commands, and watches what comes of them. */
final class OperatorFixture {
    private static final WriteContext PLAIN = new WriteContext("test", OptionalLong.empty(), false);
    private static final WriteContext DRY = new WriteContext("test", OptionalLong.empty(), true);

    private final Proxy proxy;
    private final ProxyAdmin admin;

    OperatorFixture(Proxy proxy) throws IOException {
        this.proxy = proxy;
        AccessLog none = AccessLog.open(
                new AccessLogTarget.None(), AccessLogFormat.JSON, 16, InstantSource.system(), new FloodLog(() -> 0));
        this.admin = new ProxyAdmin(
                proxy,
                new Metrics(proxy::snapshot, proxy.counters(), proxy.reloads(), none, "1", System::nanoTime),
                new ProcessInfo("1", 1, Optional.empty(), "any", "a test", Instant.EPOCH),
                InstantSource.system(),
                System::nanoTime,
                Optional.empty());
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

    /** Whether {@code /readyz} of that frontend says yes. */
    boolean ready(String frontend) {
        return admin.readiness(Optional.of(frontend)).ready();
    }

    /** A frontend as it is shown now. */
    FrontendView frontendNow(String name) {
        return admin.frontends().stream()
                .filter(frontend -> frontend.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no frontend " + name));
    }

    /** An endpoint of backend {@code back} as it is shown now. */
    EndpointView endpointNow(String name) {
        return admin.backends().get(0).endpoints().stream()
                .filter(endpoint -> endpoint.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no endpoint " + name));
    }

    /** Open connections, the first thousand. */
    List<ConnectionView> connections() throws Exception {
        return admin.connections(new ConnectionFilter(Optional.empty(), Optional.empty(), Optional.empty(), 1_000))
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS)
                .items();
    }

    /** All metrics as Prometheus text. */
    String scrape() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        admin.writeMetrics(MetricsFormat.PROMETHEUS_TEXT, out);
        return out.toString(StandardCharsets.UTF_8);
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
