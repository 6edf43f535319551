package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tidegate.admin.view.ChangeView;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The operator's log. */
final class AuditTest {
    private final Logger log = (Logger) LoggerFactory.getLogger("dev.tidegate.audit");
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private long now;

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void stop() {
        log.detachAppender(lines);
    }

    private List<String> said() {
        assertTrue(lines.list.stream().allMatch(line -> line.getLevel() == Level.INFO));
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void aWriteLeavesOneLineOfWhoWhatAndWhatChanged(@TempDir Path directory) throws IOException {
        try (TestServer server = new TestServer(directory)) {
            server.as(TestServer.OPERATOR)
                    .ask("PUT", "/v1/backends/web/endpoints/a/weight?dryRun=false", "{\"weight\":5}");
            server.as(TestServer.VIEWER).get("/v1/status");
        }

        assertEquals(1, said().size());
        assertTrue(
                said().get(0)
                        .matches("write by=\"operator 127\\.0\\.0\\.1:[0-9]+\""
                                + " call=\"PUT /v1/backends/web/endpoints/a/weight\\?dryRun=false\" body=\\{weight=5}"
                                + " result=204 generation=8"
                                + " changes=\\[change backends\\.web\\.endpoints\\.a\\.weight: 1 -> 5]"),
                said().get(0));
    }

    @Test
    void whatWasAskedForAndWhatCameOrWentIsToldInTheWordsOfTheConfiguration() {
        Values asked = new Values(Map.of(
                "spread", Duration.ofSeconds(90), "deadline", Duration.ofMillis(1_500), "mode", "cut", "weight", 3L));
        Answer done = Answer.json(HttpResponseStatus.OK, Map.of())
                .written(
                        8,
                        List.of(
                                new ChangeView("add", "backends.b.endpoints.new", null, "{weight: 1}", "live", 0),
                                new ChangeView("remove", "backends.b.endpoints.old", "{weight: 2}", null, "live", 5)));

        new Audit(() -> now).tell("admin unix", "POST /v1/nowhere", asked, done);

        assertEquals(
                List.of(
                        "write by=\"admin unix\" call=\"POST /v1/nowhere\""
                                + " body={deadline=1500ms, mode=cut, spread=90s, weight=3} result=200 generation=8"
                                + " changes=[add backends.b.endpoints.new: {weight: 1}; remove backends.b.endpoints.old: {weight: 2}]"),
                said());
    }

    @Test
    void aRefusedWriteLeavesALineToo(@TempDir Path directory) throws IOException {
        try (TestServer server = new TestServer(directory)) {
            server.as("").ask("POST", "/v1/reload", "");
            server.as(TestServer.VIEWER).ask("POST", "/v1/reload", "");
            server.admin().ask("POST", "/v1/reload", "{\"x\":1}");
            server.admin().ask("POST", "/v1/nowhere", "");
        }

        assertEquals(
                List.of("401", "403", "422", "404"),
                said().stream()
                        .map(line -> line.substring(line.lastIndexOf('=') + 1))
                        .toList());
        assertTrue(said().get(0).startsWith("write refused by=\"anyone 127.0.0.1:"), said().get(0));
        assertTrue(said().get(1).startsWith("write refused by=\"viewer 127.0.0.1:"), said().get(1));
        assertFalse(said().toString().contains(TestServer.VIEWER), said().toString());
    }

    @Test
    void aFloodOfRefusedWritesIsSummed() {
        Audit audit = new Audit(() -> now);
        Answer refused = Answer.forbidden("no");
        for (int i = 0; i < 1000; i++) {
            audit.tell("anyone 127.0.0.1:1", "POST /v1/reload", Values.NONE, refused);
        }
        assertEquals(10, said().size());

        now += TimeUnit.SECONDS.toNanos(1);
        audit.tellSummed();
        audit.tellSummed();

        assertEquals(11, said().size());
        assertEquals("writes refused, summed count=990", said().get(10));
    }

    @Test
    void whatWasDoneIsNeverSummed() {
        Audit audit = new Audit(() -> now);
        Answer done = Answer.json(HttpResponseStatus.OK, Map.of()).written(8, FakeOperations.CHANGES);

        for (int i = 0; i < 100; i++) {
            audit.tell("admin unix", "POST /v1/reload", Values.NONE, done);
        }

        assertEquals(100, said().size());
    }

    @Test
    void nothingThatIsSentBeginsALineOrEndsAQuote() {
        assertEquals(
                "a\\\" by=\\\"x\\u{d}\\u{a}\\u{1b}[31m\\u{202e}\\u{2028}\\\\ü",
                Audit.clean("a\" by=\"x\r\n\u001b[31m\u202e\u2028\\ü"));
    }
}
