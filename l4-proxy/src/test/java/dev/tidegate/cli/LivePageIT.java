package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.HeadlessBrowser;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The status page of a real {@code tidegate run} in a real browser.
 *
 * <p>{@code docs/status-page.png} is made here, when asked for:
 *
 * <pre>
 * mvn -pl l4-proxy -am verify -Dtest=none -Dit.test=LivePageIT -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Dfailsafe.failIfNoSpecifiedTests=false -Dtidegate.screenshot=../docs/status-page.png
 * </pre>
 */
class LivePageIT {
    private static final String OPERATOR = "operator-token-of-this-test";
    private static final String SCREENSHOT = "tidegate.screenshot";
    private static final Pattern ADMIN = Pattern.compile("admin API on (127\\.0\\.0\\.1:\\d+)");
    private static final int PICTURE_BYTES_MAX = 300_000;

    @TempDir
    Path directory;

    private static ScriptedBackend named(String name) {
        return ScriptedBackend.start(
                Scripts.greet(name.getBytes(StandardCharsets.US_ASCII)).then(Scripts.echo()));
    }

    private TidegateProcess start(String balance, String endpoints) throws IOException {
        Path tokens = directory.resolve("tokens");
        Files.createFile(tokens, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(tokens, "viewer viewer-token-of-this-test\noperator " + OPERATOR + "\n");
        return TidegateProcess.run(directory, """
                        admin: {listen: ["127.0.0.1:0", "unix:%s"], token-file: "%s"}
                        log: {access: {path: none}}
                        process: {warm-up: off}
                        frontends:
                          - {name: edge, listen: "127.0.0.1:%d", backend: back}
                        backends:
                          - name: back
                            balance: %s
                            endpoints:
                        %s""".formatted(
                                directory.resolve("admin.sock"), tokens, FreePort.pick(), balance, endpoints))
                .start();
    }

    private static String endpoint(String name, ScriptedBackend backend) {
        return "      - {name: " + name + ", address: \"" + backend.hostPort() + "\"}\n";
    }

    private static void open(HeadlessBrowser browser, TidegateProcess tidegate) {
        Matcher admin = ADMIN.matcher(tidegate.awaitErr("admin API on 127.0.0.1"));
        assertTrue(admin.find());
        browser.open("http://" + admin.group(1) + "/");
        browser.await("it asks for a token", "document.querySelector('#messages button')");
        browser.click("#messages button");
        browser.type(OPERATOR);
        browser.press(HeadlessBrowser.Key.ENTER);
        browser.await("it is live", "document.getElementById('live').textContent.includes('live')");
    }

    private static String row(String endpoint) {
        return "document.querySelector(\"[data-endpoint='back/" + endpoint + "']\")";
    }

    private static void awaitBadge(HeadlessBrowser browser, String endpoint, String word) {
        browser.await(
                endpoint + " has the badge " + word,
                row(endpoint) + "?.querySelector('.badge')?.textContent.includes('" + word + "')");
    }

    private static void awaitInFlight(HeadlessBrowser browser, String endpoint, int count) {
        browser.await(
                endpoint + " has " + count + " in flight",
                row(endpoint) + "?.querySelector('.wide')?.textContent.trim().startsWith('" + count + "')");
    }

    @Test
    void anOperatorDrainsAnEndpointSeesItEmptyAndTakesTheDrainBack() throws Exception {
        try (ScriptedBackend a = named("a1");
                ScriptedBackend b = named("b1");
                TidegateProcess tidegate = start("round-robin", endpoint("a", a) + endpoint("b", b));
                HeadlessBrowser browser = HeadlessBrowser.start()) {
            List<ScriptedClient> onA = new ArrayList<>();
            List<ScriptedClient> onB = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                ScriptedClient client = tidegate.connect();
                (client.readText(2).equals("a1") ? onA : onB).add(client);
            }
            assertEquals(3, onA.size());
            open(browser, tidegate);
            awaitBadge(browser, "a", "ready");
            awaitInFlight(browser, "a", 3);
            awaitInFlight(browser, "b", 3);

            browser.clickElement(row("a") + ".querySelector('button')");
            browser.await("the dialog is open", "document.getElementById('drain').open");
            browser.click("#drain-submit");
            awaitBadge(browser, "a", "draining");
            browser.await(
                    "the drain is shown", "document.querySelector('.operation')?.textContent.includes('3 of 3 to go')");
            awaitInFlight(browser, "a", 3); // nobody is sent away by a drain that waits

            for (ScriptedClient client : onA) {
                client.shutdownOutput();
                client.readToEnd();
                client.close();
            }
            awaitInFlight(browser, "a", 0);
            browser.await("the drain is done", "document.querySelector('.operation')?.textContent.includes('done')");
            awaitBadge(browser, "a", "draining");
            try (ScriptedClient late = tidegate.connect()) {
                assertEquals("b1", late.readText(2));
            }

            browser.clickElement(row("a") + ".querySelector('button')");
            awaitBadge(browser, "a", "ready");
            try (ScriptedClient back = tidegate.connect()) {
                assertEquals("a1", back.readText(2));
            }
            onB.forEach(ScriptedClient::close);
            assertEquals(List.of(), browser.complaints());
        }
    }

    @Test
    @EnabledIfSystemProperty(named = SCREENSHOT, matches = ".+")
    void aLivelyPageIsPhotographed() throws Exception {
        ScheduledExecutorService passing = Executors.newScheduledThreadPool(2);
        try (ScriptedBackend a = named("a1");
                ScriptedBackend b = named("b1");
                ScriptedBackend c = named("c1");
                ScriptedBackend d = named("d1");
                TidegateProcess tidegate =
                        start("power-of-two", endpoint("a", a) + endpoint("b", b) + endpoint("c", c));
                PingCrowd crowd = new PingCrowd(tidegate.port());
                HeadlessBrowser browser = HeadlessBrowser.start()) {
            AdminCurl curl = new AdminCurl(directory.resolve("admin.sock"));
            crowd.join(24, 1_000); // busy
            crowd.join(36, 600_000); // quiet: these leave first
            passing.scheduleAtFixedRate(() -> passBy(tidegate), 0, 30, TimeUnit.MILLISECONDS);
            browser.preferDark(false);
            browser.resize(1280, 900);
            open(browser, tidegate);
            browser.await("a while has passed", "performance.now() > 12000");
            curl.post(
                            "/v1/backends/back/endpoints",
                            "{\"name\": \"d\", \"address\": \"" + d.hostPort() + "\", \"weight\": 2}")
                    .expect(201);
            crowd.join(30, 800);
            curl.call("PUT", "/v1/backends/back/endpoints/c/weight", "{\"weight\": 3}")
                    .expect(200);
            curl.post("/v1/backends/back/endpoints/b/drain", "{\"deadline\": \"40s\", \"spread\": \"30s\"}")
                    .expect(202);
            browser.await(
                    "some have left", "document.querySelector('.operation [role=progressbar]')?.ariaValueNow >= 35");
            browser.evaluate("document.querySelectorAll('#messages button').forEach(button => button.click())");
            browser.pointAway();
            int height =
                    browser.evaluate("document.documentElement.scrollHeight").asInt();
            browser.resize(1280, height);
            Path png = Path.of(System.getProperty(SCREENSHOT));
            browser.screenshot(png);
            assertTrue(Files.size(png) <= PICTURE_BYTES_MAX, () -> png + " is larger than " + PICTURE_BYTES_MAX);
            assertEquals(List.of(), browser.complaints());
        } finally {
            passing.shutdownNow();
        }
    }

    private static void passBy(TidegateProcess tidegate) {
        try (ScriptedClient client = tidegate.connect()) {
            client.readText(2);
            client.sendSeeded(1, 20_000);
            client.skip(20_000);
        } catch (IOException e) {
            assertTrue(tidegate.isAlive(), e::toString);
        }
    }
}
