package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.control.ProcessInfo;
import dev.tidegate.control.ProxyAdmin;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.telemetry.AccessLog;
import dev.tidegate.telemetry.AccessLogFormat;
import dev.tidegate.telemetry.AccessLogTarget;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.Metrics;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whoever reads often is told what workers said a moment ago, but never what was before a write. Time stands still here. */
class RecentViewsTest {
    private static final long MOMENT_NANOS = 100_000_000;

    private final AtomicLong nanos = new AtomicLong();
    private ScriptedBackend backend;
    private ProxyFixture proxy;
    private ScriptedClient client;
    private ProxyAdmin admin;

    @BeforeEach
    void start() throws IOException {
        backend = ScriptedBackend.echo();
        proxy = ProxyFixture.on(Wish.NIO).endpoint(backend).workers(2).start();
        client = proxy.connect();
        client.send("ping");
        client.readText(4);
        AccessLog none = AccessLog.open(
                new AccessLogTarget.None(), AccessLogFormat.JSON, 16, InstantSource.system(), new FloodLog(() -> 0));
        admin = new ProxyAdmin(
                proxy.proxy(),
                new Metrics(
                        proxy.proxy()::snapshot,
                        proxy.proxy().counters(),
                        proxy.proxy().reloads(),
                        none,
                        "1",
                        System::nanoTime),
                new ProcessInfo("1", 1, Optional.empty(), "any", "a test", Instant.EPOCH),
                InstantSource.system(),
                nanos::get,
                Optional.empty());
    }

    @AfterEach
    void stop() {
        client.close();
        proxy.close();
        backend.close();
    }

    private static <T> T told(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private Outcome execute(Command command) throws Exception {
        return told(admin.execute(command, new WriteContext("test", OptionalLong.empty(), false)));
    }

    private OperationView drain() throws Exception {
        Outcome outcome = execute(new Command.Drain(
                OperatorFixture.endpoint(proxy.cell(0).address()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty()));
        return assertInstanceOf(Outcome.Started.class, outcome).operation();
    }

    private static int counted(StatusView status) {
        return status.ages().stream().mapToInt(age -> age.connections()).sum();
    }

    @Test
    void forAMomentTheSameIsTold() throws Exception {
        drain();
        StatusView status = told(admin.status());
        List<OperationView> operations = told(admin.operations());
        assertEquals(1, counted(status));
        client.close();
        proxy.awaitNoConnections();
        nanos.addAndGet(MOMENT_NANOS - 1);
        assertSame(status, told(admin.status()));
        assertSame(operations, told(admin.operations()));

        nanos.incrementAndGet();

        assertNotSame(operations, told(admin.operations()));
        assertEquals(0, counted(told(admin.status())));
    }

    @Test
    void aDrainIsSeenAtOnce() throws Exception {
        assertEquals(List.of(), told(admin.status()).operations());
        assertEquals(List.of(), told(admin.operations()));

        OperationView begun = drain();

        assertEquals(1, begun.remaining());
        assertEquals(begun.id(), told(admin.operations()).get(0).id());
        assertEquals(begun.id(), told(admin.status()).operations().get(0).id());
    }

    @Test
    void aWeightIsSeenAtOnce() throws Exception {
        long before = told(admin.status()).generation();

        execute(new Command.SetWeight(OperatorFixture.endpoint(proxy.cell(0).address()), 5));

        assertEquals(before + 1, told(admin.status()).generation());
    }

    /** By a signal, or because the file changed: no write of the API's tells of it. */
    @Test
    void anotherConfigurationIsSeenAtOnce() throws Exception {
        long before = told(admin.status()).generation();

        proxy.proxy()
                .execute(
                        new Command.SetWeight(
                                OperatorFixture.endpoint(proxy.cell(0).address()), 5),
                        new WriteContext("test", OptionalLong.empty(), false))
                .get(10, TimeUnit.SECONDS);

        assertEquals(before + 1, told(admin.status()).generation());
    }
}
