package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.admin.command.WriteContext;
import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.LeakGuard;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A fault in the looks that follow operations to their end. */
class SweepFaultTest {
    private static final WriteContext PLAIN = new WriteContext("test", OptionalLong.empty(), false);

    /** The fault vanished in the scheduled task's future, and no operation was settled until the next write. */
    @Test
    void operationsAreFollowedToTheirEndAfterALookThatFailed() throws Exception {
        LeakGuard.installed().expect("a look at operations failed.*");
        AtomicInteger faults = new AtomicInteger();
        InstantSource clock = () -> {
            if (faults.get() > 0 && Thread.currentThread().getName().startsWith("tidegate-control")) {
                faults.getAndDecrement();
                throw new IllegalStateException("the clock stands still");
            }
            return Instant.now();
        };
        try (ScriptedBackend backend = ScriptedBackend.echo();
                Proxy proxy = Proxy.start(config(backend), parts(clock))) {
            InetSocketAddress front = proxy.listeningOn().values().iterator().next();
            try (ScriptedClient client = ScriptedClient.connect(front)) {
                client.send("ping");
                assertEquals("ping", client.readText(4));
                drain(proxy, new Target.OfBackend("back"));
                drain(proxy, new Target.OfEndpoint("back", "a"));
                assertEquals(List.of("running", "running"), states(proxy));
                faults.set(2); // each tells of an operation that has ended by the clock: the looks of both fail
                client.shutdownOutput();
                client.readToEnd();
            }

            Await.until("both are done", () -> states(proxy).equals(List.of("done", "done")));
            assertTrue(faults.get() < 2, "the fault was not met");
        }
    }

    private static void drain(Proxy proxy, Target target) throws Exception {
        Command drain = new Command.Drain(target, Optional.empty(), Optional.empty(), Optional.empty());
        assertInstanceOf(Outcome.Started.class, proxy.execute(drain, PLAIN).get(10, TimeUnit.SECONDS));
    }

    private static List<String> states(Proxy proxy) {
        return proxy.operations().orTimeout(10, TimeUnit.SECONDS).join().stream()
                .map(operation -> operation.state())
                .toList();
    }

    private static Config config(ScriptedBackend backend) {
        String yaml = """
                frontends: [{name: front, listen: ["127.0.0.1:0"], backend: back}]
                backends: [{name: back, endpoints: [{name: a, address: "%s"}]}]
                """.formatted(backend.hostPort());
        return ConfigReader.readText("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), name -> null)
                .config()
                .orElseThrow();
    }

    private static Proxy.Parts parts(InstantSource clock) throws TransportChoice.UnavailableException {
        return new Proxy.Parts(
                TransportChoice.choose(TransportChoice.Wish.NIO).transport(),
                1,
                100,
                System::nanoTime,
                42,
                new FloodLog(System::nanoTime),
                record -> {},
                DnsServerAddressStreamProviders.platformDefault(),
                clock);
    }
}
