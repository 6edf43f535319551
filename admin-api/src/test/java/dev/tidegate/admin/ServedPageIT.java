package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.admin.command.Command;
import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.command.Target;
import dev.tidegate.testkit.HeadlessBrowser;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status page as the admin server serves it. */
class ServedPageIT {
    @TempDir
    Path directory;

    private static void says(HeadlessBrowser browser, String id, String text) {
        browser.await(
                id + " says " + text,
                "document.getElementById('" + id + "').textContent.includes(" + HeadlessBrowser.quoted(text) + ")");
    }

    @Test
    void rolesDecideWhatThePageMayDo() throws Exception {
        try (TestServer server = new TestServer(directory);
                HeadlessBrowser browser = HeadlessBrowser.start()) {
            server.operations.onExecute = (command, context) -> CompletableFuture.completedFuture(
                    new Outcome.Done(8, FakeOperations.CHANGES, FakeOperations.OPERATION));
            browser.open("http://127.0.0.1:" + server.address().getPort() + "/");
            says(browser, "messages", "without a token");
            browser.click("#messages button");
            browser.type(TestServer.VIEWER);
            browser.press(HeadlessBrowser.Key.ENTER);
            says(browser, "endpoints", "127.0.0.1:80");
            says(browser, "live", "live");
            server.operations.tell(FakeOperations.event(5, "something happened"));
            says(browser, "events", "something happened");

            browser.click("[data-endpoint='web/a'] button");
            browser.type("10m");
            browser.click("#drain-submit");
            says(browser, "drain-error", "Not allowed: the token's role is viewer");
            browser.press(HeadlessBrowser.Key.ESCAPE);
            assertEquals(List.of(), server.operations.commands);

            browser.click("#token-button");
            browser.type(TestServer.OPERATOR);
            browser.press(HeadlessBrowser.Key.ENTER);
            browser.click("[data-endpoint='web/a'] button");
            browser.type("10m");
            browser.click("#drain-submit");
            says(browser, "messages", "Draining web/a: 10 connections to go");
            assertEquals(
                    List.of(new Command.Drain(
                            new Target.OfEndpoint("web", "a"),
                            Optional.of(Duration.ofMinutes(10)),
                            Optional.empty(),
                            Optional.empty())),
                    server.operations.commands);
            assertEquals(List.of(), browser.complaints());
        }
    }
}
