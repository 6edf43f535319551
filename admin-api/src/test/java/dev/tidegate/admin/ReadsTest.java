package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who tells of connections has them to serve: what is told becomes an answer elsewhere. */
final class ReadsTest {
    private final BlockingQueue<Runnable> loop = new LinkedBlockingQueue<>();
    private final List<Route> routes = Routes.of(new FakeOperations(), loop::add, new Scrapes(new FakeOperations()));

    @ParameterizedTest
    @ValueSource(strings = {"/v1/status", "/v1/log-level", "/v1/connections", "/v1/operations", "/v1/operations/{id}"})
    void answersAreMadeOnTheAdminLoop(String path) throws Exception {
        Route route = routes.stream()
                .filter(each -> each.toString().equals("GET " + path))
                .findFirst()
                .orElseThrow();

        CompletionStage<Answer> answer = route.handler()
                .answer(new Call(
                        route, Map.of("id", "op-1"), Values.NONE, Values.NONE, new DefaultHttpHeaders(), null));

        Runnable making = loop.poll(10, TimeUnit.SECONDS);
        assertFalse(answer.toCompletableFuture().isDone());
        making.run();
        assertTrue(answer.toCompletableFuture().isDone());
        assertEquals(200, answer.toCompletableFuture().join().status().code());
    }
}
