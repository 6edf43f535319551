package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

class EndpointLimitTest {
    private static final int CLIENTS = 20;

    @EachTransport
    void ofTwentyWhoComeAtOnceALimitOfOneServesOne(Wish transport) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"" + backend.hostPort() + "\", max-connections: 1}")
                        .workers(2)
                        .start()) {
            CyclicBarrier together = new CyclicBarrier(CLIENTS);
            Callable<Optional<ScriptedClient>> coming = () -> {
                together.await(30, TimeUnit.SECONDS);
                return served(proxy);
            };
            List<ScriptedClient> served = new ArrayList<>();
            for (int round = 1; round <= 5; round++) {
                List<Future<Optional<ScriptedClient>>> answers = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    answers.add(threads.submit(coming));
                }
                for (Future<Optional<ScriptedClient>> answer : answers) {
                    answer.get(30, TimeUnit.SECONDS).ifPresent(served::add);
                }

                assertEquals(round, served.size());
                assertEquals(1, proxy.cell(0).inFlight());
                assertEquals(round, backend.connections().size());
                served.get(served.size() - 1).close();
                Await.equal("free again", 0, () -> proxy.cell(0).inFlight());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** A client that has its answer, and stays. Who is refused may see the reset while it still connects. */
    private static Optional<ScriptedClient> served(ProxyFixture proxy) throws IOException {
        ScriptedClient client;
        try {
            client = proxy.connect();
        } catch (PeerGoneException refused) {
            return Optional.empty();
        }
        try {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            return Optional.of(client);
        } catch (PeerGoneException refused) {
            client.close();
            return Optional.empty();
        }
    }
}
