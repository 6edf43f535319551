package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.listener.TransportChoice;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.telemetry.ReloadCounts.Result;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Two operators who have seen the same generation, and both reload. */
class StaleReloadTest {
    @Test
    void theSecondOfTwoChangesNothingAndIsNoRejectedReload() throws Exception {
        Config one = config(1);
        Config two = config(2);
        Config three = config(3);
        try (Proxy proxy = Proxy.start(one, parts())) {
            CompletableFuture<ReloadResult> first = proxy.reload(two, OptionalLong.of(1));
            CompletableFuture<ReloadResult> second = proxy.reload(three, OptionalLong.of(1));

            assertEquals(Result.APPLIED, first.get(10, TimeUnit.SECONDS).result());
            ReloadResult late = second.get(10, TimeUnit.SECONDS);
            assertTrue(late.stale(), late.toString());
            assertEquals(2, late.generation());
            assertEquals(two.backends(), proxy.config().backends());
            assertEquals(0, proxy.reloads().of(Result.REJECTED));

            assertEquals(
                    Result.APPLIED,
                    proxy.reload(three, OptionalLong.of(2))
                            .get(10, TimeUnit.SECONDS)
                            .result());
        }
    }

    private static Config config(int weight) {
        String yaml = """
                frontends: [{name: front, listen: ["127.0.0.1:0"], backend: back}]
                backends: [{name: back, endpoints: [{name: a, address: "127.0.0.1:1", weight: %d}]}]
                """.formatted(weight);
        return ConfigReader.readText("test.yaml", yaml.getBytes(StandardCharsets.UTF_8), name -> null)
                .config()
                .orElseThrow();
    }

    private static Proxy.Parts parts() throws TransportChoice.UnavailableException {
        return new Proxy.Parts(
                TransportChoice.choose(TransportChoice.Wish.NIO).transport(),
                1,
                100,
                System::nanoTime,
                42,
                new FloodLog(System::nanoTime),
                record -> {},
                DnsServerAddressStreamProviders.platformDefault(),
                InstantSource.system());
    }
}
