package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedConnection;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What the comparison of lifetimes counts is what happened. */
class KeepAliveClientsTest {
    private static final String REQUEST = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
    private static final String BODY = "x".repeat(SlowAnswers.BODY_BYTES);
    private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Length: " + SlowAnswers.BODY_BYTES + "\r\n";

    @Test
    void whoAnswersAndKeepsConnectionsFailsNobody() throws IOException {
        try (SlowAnswers endpoints = SlowAnswers.start(2, 1, 5, 1)) {
            try (KeepAliveClients clients =
                    KeepAliveClients.start(endpoints.addresses().get(1), 7, 20, 1, 1)) {
                Await.until("100 answers", () -> clients.counts().answered() >= 100);

                assertEquals("[0, 7]", Arrays.toString(endpoints.connections()));
                KeepAliveClients.Counts counts = clients.counts();
                assertEquals(0, counts.failed() + counts.told() + counts.silent() + counts.refused(), counts::toString);
            }
            Await.until("all have gone", () -> endpoints.connections()[1] == 0);
        }
    }

    @Test
    void anEndThatAnAnswerTellsOfIsNoFailure() throws IOException {
        try (ScriptedBackend backend = ScriptedBackend.start(answeringOnce(HEAD + "Connection: close\r\n\r\n" + BODY));
                KeepAliveClients clients = KeepAliveClients.start(backend.address(), 2, 0, 1, 1)) {
            Await.until("told", () -> clients.counts().told() >= 10);

            assertEquals(0, clients.counts().failed());
            long apart = clients.counts().answered() - clients.counts().told();
            assertTrue(Math.abs(apart) <= 1, () -> apart + " more were answered than told");
        }
    }

    @Test
    void anAnswerThatIsNotWholeIsAFailure() throws IOException {
        assertFails(answeringOnce(HEAD + "\r\n" + BODY.substring(1)));
        assertFails(answeringOnce(HEAD));
        assertFails(answeringOnce(""));
        assertFails(connection -> {
            connection.readExactly(REQUEST.length());
            connection.send(HEAD + "\r\n" + BODY.substring(1));
            connection.awaitAcknowledged();
            connection.reset();
        });
    }

    private static void assertFails(Script script) throws IOException {
        try (ScriptedBackend backend = ScriptedBackend.start(script);
                KeepAliveClients clients = KeepAliveClients.start(backend.address(), 2, 0, 1, 1)) {
            Await.until("failures", () -> clients.counts().failed() >= 3);

            assertEquals(0, clients.counts().answered());
        }
    }

    @Test
    void anEndBetweenTwoRequestsIsNoFailure() throws IOException {
        try (ScriptedBackend backend = ScriptedBackend.start(answeringOnce(HEAD + "\r\n" + BODY));
                KeepAliveClients clients = KeepAliveClients.start(backend.address(), 2, 0, 200, 1)) {
            Await.until("ends in silence", () -> clients.counts().silent() >= 5);

            assertTrue(clients.counts().answered() >= 5);
            assertEquals(0, clients.counts().failed());
        }
    }

    private static Script answeringOnce(String answer) {
        return (ScriptedConnection connection) -> {
            connection.readExactly(REQUEST.length());
            connection.send(answer);
        };
    }
}
