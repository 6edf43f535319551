package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.Config;
import dev.tidegate.config.ConfigReader;
import dev.tidegate.config.ConfigResult;
import dev.tidegate.control.Proxy;
import dev.tidegate.control.ReloadResult;
import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.telemetry.ReloadCounts.Result;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Configurations with slips in them, by reload: each is rejected whole or in force whole. */
class MutatedReloadTest {
    private static final int MUTANTS = 300;
    private static final long SEED = 20_261_129L;

    @Test
    void aMutantIsRejectedWholeOrInForceWhole() throws Exception {
        int port = ReloadFixture.port();
        int other = ReloadFixture.port();
        Random random = new Random(SEED);
        int applied = 0;
        int rejected = 0;
        try (var a = ReloadFixture.named("a");
                var b = ReloadFixture.named("b")) {
            String good = """
                    frontends:
                      - {name: front, listen: "127.0.0.1:%d", backend: back}
                      - {name: other, listen: "127.0.0.1:%d", backend: back, timeouts: {idle: 25m}}
                    backends:
                      - name: back
                        balance: round-robin
                        endpoints:
                          - {name: a, address: "%s", weight: 12}
                          - {name: b, address: "%s", weight: 0}
                    """.formatted(port, other, a.hostPort(), b.hostPort());
            try (var proxy = ReloadFixture.start(Wish.EPOLL, good);
                    var client = ReloadFixture.connectTo(port, "a")) {
                for (int i = 0; i < MUTANTS; i++) {
                    Result result = check(proxy, mutate(good, random), "mutant " + i + " of seed " + SEED);
                    applied += result == Result.APPLIED ? 1 : 0;
                    rejected += result == Result.REJECTED ? 1 : 0;
                    if (result == Result.APPLIED) {
                        assertEquals(Result.APPLIED, proxy.reload(good).result());
                    }
                }
                ReloadFixture.assertEchoes(client);
                ReloadFixture.connectTo(port, "a").close();
                ReloadFixture.connectTo(other, "a").close();
            }
        }
        int appliedInAll = applied;
        int rejectedInAll = rejected;
        // Neither all nor none: otherwise the mutants would show nothing.
        assertTrue(applied > 30 && rejected > 30, () -> appliedInAll + " applied, " + rejectedInAll + " rejected");
    }

    private static Result check(ReloadFixture fixture, String mutant, String which) throws Exception {
        Proxy proxy = fixture.proxy();
        Config before = proxy.config();
        long generation = proxy.snapshot().generation();
        ConfigResult read = ConfigReader.readText("mutant.yaml", mutant.getBytes(StandardCharsets.UTF_8), name -> null);
        if (read.config().isEmpty()) {
            assertFalse(read.problems().isEmpty(), which);
            return Result.REJECTED;
        }
        ReloadResult result = proxy.reload(read.config().get()).get(30, TimeUnit.SECONDS);
        boolean applied = result.result() == Result.APPLIED;
        Config wanted = applied ? read.config().get() : before;
        assertEquals(wanted.frontends(), proxy.config().frontends(), which);
        assertEquals(wanted.backends(), proxy.config().backends(), which);
        assertEquals(applied ? generation + 1 : generation, proxy.snapshot().generation(), which);
        assertEquals(listeners(wanted), new TreeSet<>(proxy.listeningOn().keySet()), which);
        assertEquals(
                wanted.backends().stream()
                        .flatMap(backend -> backend.endpoints().stream())
                        .map(endpoint -> endpoint.name() + " " + endpoint.address() + " " + endpoint.weight())
                        .toList(),
                proxy.snapshot().backends().stream()
                        .flatMap(backend -> backend.endpoints().all().stream())
                        .map(endpoint -> endpoint.name() + " " + endpoint.cell().address() + " " + endpoint.weight())
                        .toList(),
                which);
        return result.result();
    }

    private static Set<String> listeners(Config config) {
        Set<String> all = new TreeSet<>();
        config.frontends().forEach(frontend -> frontend.listen().forEach(at -> all.add(frontend.name() + " " + at)));
        return all;
    }

    /** A slip of the pen: a digit or letter changed, something left out or written twice, a line moved. */
    private static String mutate(String text, Random random) {
        StringBuilder mutant = new StringBuilder(text);
        int at = random.nextInt(text.length());
        switch (random.nextInt(5)) {
            case 0 -> mutant.setCharAt(at, (char) ('0' + random.nextInt(10)));
            case 1 -> mutant.deleteCharAt(at);
            case 2 -> mutant.insert(at, text.charAt(random.nextInt(text.length())));
            case 3 -> digit(mutant, random);
            default -> {
                List<String> lines = Stream.of(text.split("(?<=\n)", -1)).toList();
                mutant.insert(at, lines.get(random.nextInt(lines.size())));
            }
        }
        return mutant.toString();
    }

    private static void digit(StringBuilder mutant, Random random) {
        int at = random.nextInt(mutant.length());
        while (!Character.isDigit(mutant.charAt(at))) {
            at = (at + 1) % mutant.length();
        }
        mutant.setCharAt(at, (char) ('0' + random.nextInt(10)));
    }
}
