package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.StatusPageServer.Write;
import dev.tidegate.admin.view.AgeBucket;
import dev.tidegate.admin.view.BackendView;
import dev.tidegate.admin.view.BreakerView;
import dev.tidegate.admin.view.CheckView;
import dev.tidegate.admin.view.EjectionView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.FrontendView;
import dev.tidegate.admin.view.HealthView;
import dev.tidegate.admin.view.LifetimeView;
import dev.tidegate.admin.view.ListenerView;
import dev.tidegate.admin.view.OperationView;
import dev.tidegate.admin.view.StatusView;
import dev.tidegate.admin.view.WeightView;
import dev.tidegate.admin.view.WorkerView;
import dev.tidegate.testkit.HeadlessBrowser;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The status page in a real browser, fed by a script. */
class StatusPageIT {
    private static final Instant NOON = Instant.parse("2026-11-29T12:00:00Z");
    private static final String MARKUP =
            "<script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">";

    private static HeadlessBrowser browser;

    private StatusPageServer server;

    @BeforeAll
    static void startBrowser() {
        browser = HeadlessBrowser.start();
    }

    @AfterAll
    static void closeBrowser() {
        browser.close();
    }

    @BeforeEach
    void startServer() throws IOException {
        server = StatusPageServer.start();
    }

    /** Whatever a test did, the page broke no policy, and had nothing to complain of. */
    @AfterEach
    void noComplaints() {
        List<String> complaints = browser.complaints();
        server.close();
        assertEquals(List.of(), complaints);
    }

    // ---- what is streamed ----

    private static EndpointView endpoint(String name, String state, boolean pickable, int inFlight, long picks) {
        return new EndpointView(
                name,
                "web",
                "10.0.0.1:80",
                List.of("10.0.0.1:80"),
                "config",
                state,
                true,
                pickable,
                null,
                new WeightView(2, null, 2),
                100.0,
                null,
                inFlight,
                picks,
                new TreeMap<>(Map.of("ok", picks)),
                Map.of(),
                null,
                null,
                null,
                null);
    }

    private static BackendView backend(String name, List<EndpointView> endpoints) {
        int pickable = (int) endpoints.stream().filter(EndpointView::pickable).count();
        int inFlight = endpoints.stream().mapToInt(EndpointView::inFlight).sum();
        return new BackendView(name, "power-of-two", "ready", pickable, false, false, inFlight, 0, 0, endpoints);
    }

    private static FrontendView frontend(String name, int connections, long accepted, Map<String, Long> closed) {
        return new FrontendView(
                name,
                "ready",
                "web",
                List.of(new ListenerView("127.0.0.1:0", "127.0.0.1:8443")),
                "auto",
                1000,
                new LifetimeView(3_600_000L, 0.2, null, null, 300_000, 5_000, 2_000),
                connections,
                accepted,
                Map.of("tcp", accepted),
                accepted * 1024,
                accepted * 2048,
                closed,
                Map.of("quiet", 6L, "cut", 2L),
                null);
    }

    private static StatusView status(long uptimeMs, int connections, List<OperationView> operations) {
        return new StatusView(
                "1.2.3",
                4711,
                "ready",
                NOON,
                uptimeMs,
                42,
                "/etc/tidegate/tidegate.yaml",
                "epoll",
                "io_uring is forbidden here",
                List.of(new WorkerView(0, 30), new WorkerView(1, 20)),
                connections,
                1000,
                "info",
                new TreeMap<>(Map.of("applied", 3L)),
                List.of(new AgeBucket(1000L, 5), new AgeBucket(60_000L, 40), new AgeBucket(null, 20)),
                operations);
    }

    private static OperationView drain(String endpoint, String state, int remaining) {
        return new OperationView(
                "op-1",
                "drain",
                "backends/web/endpoints/" + endpoint,
                state,
                40,
                remaining,
                40 - remaining,
                0,
                state.equals("running") ? 1.5 : 0,
                90_000L,
                30_000L,
                Instant.parse("2126-11-29T12:00:00Z"),
                "graceful",
                NOON);
    }

    private void stats(long uptimeMs, EndpointView... endpoints) throws IOException {
        server.stats(
                status(uptimeMs, 65, List.of()),
                List.of(frontend("edge", 65, 100, Map.of("client-closed", 30L))),
                List.of(backend("web", List.of(endpoints))));
    }

    private static String row(String kind, String name) {
        return "[...document.querySelectorAll('tr')].find(row => row.dataset." + kind + " === "
                + HeadlessBrowser.quoted(name) + ")";
    }

    private static void awaitText(String element, String text) {
        browser.await(
                element + " says " + text, element + "?.textContent.includes(" + HeadlessBrowser.quoted(text) + ")");
    }

    private static void awaitDrawn() {
        browser.await("the first numbers are drawn", "document.querySelector('#endpoints tbody tr')");
    }

    // ---- looking ----

    @Test
    void showsWhatIsStreamed() throws Exception {
        browser.open(server.url());
        EndpointView a = endpoint("a", "ready", true, 40, 1000);
        EndpointView b = endpoint("b", "draining", false, 10, 10);
        OperationView operation = drain("b", "running", 10);
        server.stats(
                status(60_000, 50, List.of(operation)),
                List.of(frontend("edge", 50, 1000, Map.of("client-closed", 75L, "max-age", 25L))),
                List.of(backend("web", List.of(a, b))));
        server.stats(
                status(62_000, 50, List.of(operation)),
                List.of(frontend("edge", 50, 1100, Map.of("client-closed", 175L, "max-age", 25L))),
                List.of(backend("web", List.of(endpoint("a", "ready", true, 40, 1040), b))));
        server.event(new EventView(1, NOON, "endpoint-state", "web/b is draining", Map.of()));

        awaitText("document.querySelector('#tile-accepts p')", "50.0");
        awaitText("document.getElementById('state')", "ready");
        awaitText("document.getElementById('version')", "1.2.3");
        awaitText("document.getElementById('uptime')", "1m 2s");
        awaitText("document.getElementById('generation')", "42");
        awaitText("document.getElementById('transport')", "epoll");
        awaitText("document.querySelector('#tile-connections p')", "50 of 1,000");
        assertEquals("5%", browser.text("document.querySelector('#tile-connections .bar i').style.width"));
        awaitText("document.getElementById('live')", "live");

        String edge = row("frontend", "edge");
        awaitText(edge, "client-closed 175 · max-age 25");
        awaitText(edge, "127.0.0.1:8443");
        awaitText(edge, "50.0 KiB");
        assertEquals("87.5%", browser.text(edge + ".querySelector('.bar i.ok').style.width"));

        awaitText(row("backend", "web"), "1 of 2 pickable");
        awaitText(row("endpoint", "web/a"), "20.0"); // picks a second
        assertEquals("100%", browser.text(row("endpoint", "web/a") + ".querySelector('.bar i').style.width"));
        assertEquals("25%", browser.text(row("endpoint", "web/b") + ".querySelector('.bar i').style.width"));
        assertEquals("badge warn", browser.text(row("endpoint", "web/b") + ".querySelector('.badge').className"));
        awaitText(row("endpoint", "web/b"), "draining");

        awaitText("document.querySelector('.operation')", "10 of 40 to go");
        awaitText("document.querySelector('.operation')", "about 30 s left");
        assertEquals("75", browser.text("document.querySelector('[role=progressbar]').ariaValueNow"));
        assertEquals("75%", browser.text("document.querySelector('.operation .bar i').style.width"));

        assertEquals("up to 1s: 5, up to 1m: 40, older: 20", browser.text("document.getElementById('ages').ariaLabel"));
        assertEquals("118.0", browser.text("document.querySelectorAll('#ages rect')[1].getAttribute('height')"));
        awaitText("document.getElementById('hows')", "cut2");
        awaitText("document.getElementById('events')", "web/b is draining");
    }

    @Test
    void weightsLimitsAndFaultsOfEndpointsAreTold() throws Exception {
        browser.open(server.url());
        EndpointView raised = new EndpointView(
                "raised",
                "web",
                "one.test:80",
                List.of("10.0.0.9:80"),
                "runtime",
                "ready",
                false,
                false,
                null,
                new WeightView(2, 5, 3),
                100.0,
                50,
                50,
                9,
                new TreeMap<>(Map.of("ok", 5L, "refused", 4L)),
                Map.of(),
                null,
                null,
                null,
                null);
        EndpointView unresolved = new EndpointView(
                "gone",
                "web",
                "two.test:80",
                List.of(),
                "config",
                "disabled",
                true,
                false,
                null,
                new WeightView(1, null, 1),
                100.0,
                null,
                0,
                0,
                Map.of(),
                Map.of(),
                null,
                null,
                null,
                null);
        stats(1000, raised, unresolved);

        awaitText(row("endpoint", "web/raised"), "set 5, file 2");
        awaitText(row("endpoint", "web/raised"), "50 of 50");
        awaitText(row("endpoint", "web/raised"), "down");
        awaitText(row("endpoint", "web/raised"), "added at run time");
        awaitText(row("endpoint", "web/raised"), "one.test:80 → 10.0.0.9:80");
        awaitText(row("endpoint", "web/raised"), "refused 4");
        awaitText(row("endpoint", "web/gone"), "two.test:80 (unresolved)");
        assertEquals("Enable", browser.text(row("endpoint", "web/gone") + ".querySelector('button').textContent"));
        assertEquals("bad", browser.text(row("backend", "web") + ".querySelector('.line > .bad').className"));
    }

    private static EndpointView judged(
            String name,
            String reason,
            double share,
            HealthView health,
            EjectionView ejection,
            BreakerView breaker,
            Map<String, Long> failures) {
        return new EndpointView(
                name,
                "web",
                "10.0.0.1:80",
                List.of("10.0.0.1:80"),
                "config",
                "ready",
                health == null || health.state().equals("up"),
                reason == null,
                reason,
                new WeightView(2, null, 2),
                share,
                null,
                1,
                1,
                new TreeMap<>(Map.of("ok", 1L)),
                failures,
                health,
                ejection,
                breaker,
                null);
    }

    /** A check that ended so long after the process began. */
    private static CheckView check(int second, String result, String why, String state) {
        return new CheckView(NOON.plusSeconds(second), 12, result, why, state);
    }

    private void panic(boolean panic, boolean spreading, EndpointView... endpoints) throws IOException {
        BackendView plain = backend("web", List.of(endpoints));
        server.stats(
                status(60_000, 1, List.of()),
                List.of(),
                List.of(new BackendView(
                        "web",
                        plain.balance(),
                        plain.state(),
                        plain.pickable(),
                        panic,
                        spreading,
                        plain.inFlight(),
                        3,
                        7,
                        plain.endpoints())));
    }

    @Test
    void whatChecksSayIsToldWithTheLastOnesAsMarks() throws Exception {
        browser.open(server.url());
        HealthView down = new HealthView(
                "down",
                NOON.plusSeconds(50),
                1,
                2,
                8_000,
                List.of(
                        check(58, "pass", "connected", "down"),
                        check(56, "void", "too many open files", "down"),
                        check(54, "not-ready", "HTTP 503", "down"),
                        check(52, "fail", MARKUP, "down")));
        panic(
                false,
                false,
                judged("a", "down: connected", 100, down, null, null, Map.of()),
                judged(
                        "b",
                        "not ready: HTTP 503",
                        100,
                        new HealthView("not-ready", NOON, 0, 2, 0, List.of()),
                        null,
                        null,
                        Map.of()),
                judged(
                        "c",
                        "its first check is not over",
                        100,
                        new HealthView("unknown", NOON, 0, 1, 0, List.of()),
                        null,
                        null,
                        Map.of()));
        awaitDrawn();

        String a = row("endpoint", "web/a");
        awaitText(a, "1 of 2 results for a change");
        awaitText(a, "held down for another 8 s because it flaps");
        awaitText(a, "pass 2 s ago, took 12 ms: connected");
        String marks = a + ".querySelector('.checks')";
        assertEquals(
                "bad warn dim ok", browser.text("[..." + marks + ".children].map(mark => mark.className).join(' ')"));
        assertEquals(
                "Last 4 checks: 1 fail, 1 not-ready, 1 void, 1 pass; the oldest first: fail not-ready void pass",
                browser.text(marks + ".getAttribute('aria-label')"));
        String title = browser.text(marks + ".children[0].title");
        assertTrue(title.endsWith(" fail in 12 ms: " + MARKUP + ", then down"), title);
        assertEquals("badge bad", browser.text(a + ".querySelectorAll('.badge')[1].className"));

        awaitText(row("endpoint", "web/b"), "not ready: HTTP 503");
        awaitText(row("endpoint", "web/b"), "not checked yet");
        assertEquals("badge warn", browser.text(row("endpoint", "web/b") + ".querySelectorAll('.badge')[1].className"));
        awaitText(row("endpoint", "web/c"), "unchecked");
        awaitText("document.getElementById('chips')", "down 1");
        awaitText("document.getElementById('chips')", "not picked 2");
        assertTrue(browser.isTrue(row("backend", "web") + ".querySelector('.panic').hidden"));
        awaitText(row("backend", "web"), "7 not made: budget spent");
    }

    @Test
    void ejectionBreakerAndSlowStartAreToldWithWhenTheyEnd() throws Exception {
        browser.open(server.url());
        panic(
                false,
                false,
                judged(
                        "a",
                        "ejected until 2026-11-29T12:01:25.123456Z: 5 failures in a row, the last: refused",
                        100,
                        null,
                        new EjectionView(NOON.plusSeconds(85), "5 failures in a row, the last: refused", 2),
                        new BreakerView("closed", null),
                        Map.of("reset", 4L, "silent", 5L, "refused", 6L)),
                judged(
                        "b",
                        "its breaker is open",
                        100,
                        null,
                        null,
                        new BreakerView("open", NOON.plusSeconds(69)),
                        Map.of()),
                judged("c", null, 62.5, null, null, new BreakerView("half-open", null), Map.of()));
        awaitDrawn();

        String a = row("endpoint", "web/a");
        awaitText(a, "ejected until 2026-11-29T12:01:25Z: 5 failures in a row, the last: refused");
        awaitText(a, "ejection 2 in a row, ends in 25 s");
        awaitText(a, "breaker closed");
        awaitText(a, "ok 1 · reset 4 · silent 5");
        assertTrue(browser.isTrue(a + ".querySelector('.checks').hidden"));
        awaitText(row("endpoint", "web/b"), "breaker open, tried in 9 s");
        awaitText(row("endpoint", "web/c"), "breaker half open: a few connects try it");
        awaitText(row("endpoint", "web/c"), "slow start: 62.5% of its share");
    }

    @Test
    void panicIsABannerOfItsBackend() throws Exception {
        browser.open(server.url());
        EndpointView fit = endpoint("a", "ready", true, 1, 1);
        EndpointView down =
                judged("b", "down", 100, new HealthView("down", NOON, 0, 2, 0, List.of()), null, null, Map.of());
        EndpointView ejected = judged("c", "ejected", 100, null, new EjectionView(NOON, "12 of 20", 1), null, Map.of());
        EndpointView unchecked = judged(
                "d", "unchecked", 100, new HealthView("unknown", NOON, 0, 1, 0, List.of()), null, null, Map.of());
        EndpointView draining = endpoint("e", "draining", false, 1, 1);
        String banner = row("backend", "web") + "?.querySelector('.panic')";

        panic(true, true, fit, down, ejected, unchecked, draining);
        awaitText(banner, "Panic: 1 of 3 endpoints fit, connections are spread over all.");
        panic(true, false, fit, down, ejected, unchecked, draining);
        awaitText(banner, "go to fit ones alone");
        panic(false, true, unchecked);
        awaitText(banner, "No endpoint is checked yet: connections are spread over all.");
        panic(false, false, fit);
        browser.await("the banner is gone", banner + ".hidden");
    }

    @Test
    void markupInNamesStaysText() throws Exception {
        browser.open(server.url());
        EndpointView endpoint = endpoint(MARKUP, "ready", true, 1, 1);
        server.stats(
                status(1000, 1, List.of(drain(MARKUP, "running", 10))),
                List.of(frontend(MARKUP, 1, 1, Map.of(MARKUP, 1L))),
                List.of(backend(MARKUP, List.of(endpoint))));
        server.event(new EventView(7, NOON, MARKUP, MARKUP, Map.of("name", MARKUP)));
        awaitDrawn();

        awaitText(row("endpoint", "web/" + MARKUP), MARKUP);
        awaitText(row("frontend", MARKUP), MARKUP);
        awaitText("document.getElementById('events')", MARKUP);
        awaitText("document.getElementById('ends')", MARKUP);
        browser.clickElement(row("endpoint", "web/" + MARKUP) + ".querySelector('button')");
        awaitText("document.getElementById('drain-title')", MARKUP);
        assertEquals("1", browser.text("document.scripts.length"));
        assertEquals("0", browser.text("document.images.length"));
        assertTrue(browser.text("document.title").contains("Tidegate"));
    }

    @Test
    void thousandEndpointsAreDrawnInPartAndFoundByTheFilter() throws Exception {
        browser.open(server.url());
        List<EndpointView> many = IntStream.range(0, 1000)
                .mapToObj(i -> endpoint("e" + i, i == 777 ? "draining" : "ready", i != 777, i, i))
                .toList();
        stats(1000, many.toArray(EndpointView[]::new));
        awaitDrawn();

        String rows = "document.querySelectorAll('#endpoints tbody tr').length";
        awaitText("document.getElementById('endpoints-more')", "100 of 1,001 rows");
        assertTrue(browser.isTrue(rows + " <= 101"), () -> browser.text(rows));
        browser.click("#endpoints-more button");
        browser.await("more rows", rows + " > 150");

        browser.press(HeadlessBrowser.Key.SLASH);
        assertEquals("filter", browser.text("document.activeElement.id"));
        browser.type("E77");
        browser.await("the rows that fit", rows + " === 12"); // e77, e770 to e779, their backend
        awaitText("document.getElementById('matches')", "11 endpoints");
        browser.press(HeadlessBrowser.Key.ESCAPE);
        browser.await("all are back", rows + " > 50");

        browser.clickElement(
                "[...document.querySelectorAll('#chips button')].find(chip => chip.textContent === 'draining 1')");
        browser.await("the one that drains", rows + " === 2");
        awaitText(row("endpoint", "web/e777"), "draining");
    }

    @Test
    void rowsSortAndStayWhereTheyAreUnderTheMouse() throws Exception {
        browser.open(server.url());
        stats(1000, endpoint("a", "ready", true, 1, 1), endpoint("b", "ready", true, 2, 1));
        awaitDrawn();
        String first = "document.querySelector('#endpoints tbody [data-endpoint]').dataset.endpoint";

        browser.click("[data-sort=in_flight] button");
        browser.await("the busiest is first", first + " === 'web/b'");
        browser.evaluate("document.activeElement.blur()");
        browser.clickElement(row("endpoint", "web/a") + ".querySelector('.bar')"); // the mouse rests there
        stats(2000, endpoint("a", "ready", true, 3, 1), endpoint("b", "ready", true, 2, 1));
        awaitText(row("endpoint", "web/a") + "?.querySelector('.wide')", "3");
        assertEquals("web/b", browser.text(first));

        browser.pointAway();
        stats(3000, endpoint("a", "ready", true, 4, 1), endpoint("b", "ready", true, 2, 1));
        browser.await("order follows the numbers", first + " === 'web/a'");
    }

    @Test
    void coloursFollowWhatTheUserPrefers() throws Exception {
        String background = "getComputedStyle(document.body).backgroundColor";
        browser.preferDark(false);
        browser.open(server.url());
        String light = browser.text(background);
        browser.preferDark(true);
        assertNotEquals(light, browser.text(background));
        browser.preferDark(false);
    }

    // ---- the stream ----

    @Test
    void eventsAreReadHoweverTheirBytesAreCut() throws Exception {
        browser.open(server.url());
        server.raw(
                ": welcome\r\n\r\nevent: reload\r\nid: 1\r\ndata: {\"id\": 1, \"time\": \"2026-11-29T12:00:00Z\",\r");
        server.raw("\ndata: \"type\": \"reload\", \"message\": \"gr\u00fc\u00dfe ");
        server.raw("from afar\", \"fields\": {}}\r\n\r");
        server.raw("\nevent: reload\ndata: {\"id\": 1, \"time\": \"2026-11-29T12:00:00Z\", \"type\": \"reload\","
                + " \"message\": \"told twice\", \"fields\": {}}\n\n");
        server.event(new EventView(2, NOON, "reload", "the next", Map.of()));
        awaitText("document.getElementById('events')", "the next");
        awaitText("document.getElementById('events')", "gr\u00fc\u00dfe from afar");
        assertEquals("2", browser.text("document.querySelectorAll('#events li').length"));
    }

    @Test
    void brokenStreamIsToldAndComesBack() throws Exception {
        browser.open(server.url());
        stats(1000, endpoint("a", "ready", true, 1, 1));
        awaitText("document.getElementById('live')", "live");

        server.answerStreams(503);
        server.endStreams();
        awaitText("document.getElementById('live')", "stale since");
        awaitText("document.getElementById('live')", "not available");
        awaitText("document.getElementById('messages')", "Not available now: the answer that the test asked for");
        assertTrue(browser.isTrue("document.body.classList.contains('stale')"));

        server.answerStreams(200);
        browser.click("#retry");
        stats(2000, endpoint("a", "ready", true, 7, 1));
        browser.await("live again", "document.getElementById('live').className === 'live on'");
        awaitText(row("endpoint", "web/a") + "?.querySelector('.wide')", "7");
        browser.await("the message has gone", "document.getElementById('messages').children.length === 0");
    }

    @Test
    void anotherProcessBeginsItsCountersAnew() throws Exception {
        browser.open(server.url());
        stats(1000, endpoint("a", "ready", true, 1, 1));
        awaitDrawn();
        StatusView later = status(50, 1, List.of());
        server.stats(
                new StatusView(
                        later.version(),
                        4712,
                        later.state(),
                        NOON.plusSeconds(60),
                        50,
                        1,
                        null,
                        later.transport(),
                        later.transportReason(),
                        later.workers(),
                        1,
                        1000,
                        later.logLevel(),
                        later.reloads(),
                        later.ages(),
                        List.of()),
                List.of(frontend("edge", 1, 1, Map.of())),
                List.of(backend("web", List.of(endpoint("a", "ready", true, 1, 0)))));
        awaitText("document.getElementById('messages')", "started anew");
        awaitText("document.querySelector('#tile-accepts p')", "–"); // one reading makes no rate
    }

    @Test
    void tokenIsAskedForOnceAndKeptForTheTab() throws Exception {
        server.require("s3cret", true);
        browser.open(server.url());
        awaitText("document.getElementById('messages')", "without a token");
        browser.clickElement("[...document.querySelectorAll('#messages button')][0]");
        browser.type("s3cret");
        browser.press(HeadlessBrowser.Key.ENTER);
        stats(1000, endpoint("a", "ready", true, 1, 1));
        awaitDrawn();
        assertEquals(List.of("", "Bearer s3cret"), server.streamTokens());

        browser.open(server.url());
        stats(2000, endpoint("a", "ready", true, 1, 1));
        awaitDrawn();
        assertEquals("Bearer s3cret", server.streamTokens().get(2));

        browser.click("#token-button");
        browser.click("#token-forget");
        awaitText("document.getElementById('messages')", "without a token");
        assertEquals("0", browser.text("sessionStorage.length"));
    }

    // ---- drain ----

    @Test
    void drainAsksForATokenAndSendsWhatWasFilledIn() throws Exception {
        server.require("operators", false);
        server.operation(drain("a b/%", "running", 40));
        browser.open(server.url());
        stats(1000, endpoint("a b/%", "ready", true, 40, 1));
        awaitDrawn();

        browser.clickElement(row("endpoint", "web/a b/%") + ".querySelector('button')");
        awaitText("document.getElementById('drain-preview')", "Its 40 connections leave by themselves");
        browser.type("10m");
        browser.press(HeadlessBrowser.Key.TAB);
        browser.type("2m");
        awaitText("document.getElementById('drain-preview')", "What is left after 10m is cut");
        browser.click("#drain-submit");
        browser.await("the token is asked for", "document.getElementById('token').open");
        browser.type("wrong");
        browser.press(HeadlessBrowser.Key.ENTER);
        awaitText("document.getElementById('token-why')", "was not accepted");
        browser.type("operators");
        browser.press(HeadlessBrowser.Key.ENTER);
        awaitText("document.getElementById('messages')", "Draining web/a b/%: 40 connections to go");
        assertTrue(browser.isTrue("!document.querySelector('dialog[open]')"));

        String path = "/v1/backends/web/endpoints/a%20b%2F%25/drain";
        String body = "{\"deadline\":\"10m\",\"spread\":\"2m\"}";
        assertEquals(
                List.of(
                        new Write("POST", path, "", "application/json", body),
                        new Write("POST", path, "Bearer wrong", "application/json", body),
                        new Write("POST", path, "Bearer operators", "application/json", body)),
                server.writes());
    }

    @Test
    void drainWithoutATokenWorksWhereNoneIsNeededAndUndrainTakesItBack() throws Exception {
        server.operation(drain("a", "running", 40));
        browser.open(server.url());
        stats(1000, endpoint("a", "ready", true, 40, 1));
        awaitDrawn();
        browser.evaluate(row("endpoint", "web/a") + ".querySelector('button').focus()");
        browser.press(HeadlessBrowser.Key.ENTER);
        browser.await("the dialog is open", "document.getElementById('drain').open");
        browser.press(HeadlessBrowser.Key.ENTER);
        browser.await("the dialog is closed", "!document.getElementById('drain').open");
        assertEquals(
                List.of(new Write("POST", "/v1/backends/web/endpoints/a/drain", "", "application/json", "{}")),
                server.writes());

        server.stats(
                status(2000, 30, List.of(drain("a", "running", 30))),
                List.of(),
                List.of(backend("web", List.of(endpoint("a", "draining", false, 30, 1)))));
        awaitText("document.querySelector('.operation')", "30 of 40 to go");
        browser.clickElement(row("endpoint", "web/a") + ".querySelector('button')");
        awaitText("document.getElementById('messages')", "Undrained backends/web/endpoints/a");
        assertEquals(
                new Write("DELETE", "/v1/backends/web/endpoints/a/drain", "", "", ""),
                server.writes().get(1));

        server.operation(drain("a", "cancelled", 30));
        stats(3000, endpoint("a", "ready", true, 30, 1));
        awaitText("document.querySelector('.operation')", "cancelled");
    }

    @Test
    void refusedDrainSaysWhyAndLeavesTheDialogOpen() throws Exception {
        server.answerWrites(403);
        browser.open(server.url());
        stats(1000, endpoint("a", "ready", true, 40, 1));
        awaitDrawn();
        browser.clickElement(row("endpoint", "web/a") + ".querySelector('button')");
        browser.type("ten minutes");
        browser.click("#drain-submit");
        assertTrue(browser.isTrue("!document.getElementById('drain-deadline').validity.valid"));
        assertEquals(List.of(), server.writes());

        browser.evaluate("document.getElementById('drain-deadline').select()");
        browser.type("10m");
        browser.click("#drain-submit");
        awaitText("document.getElementById('drain-error')", "Not allowed: the answer that the test asked for");
        assertTrue(browser.isTrue("document.getElementById('drain').open"));
        browser.press(HeadlessBrowser.Key.ESCAPE);
        browser.await("the dialog is closed", "!document.getElementById('drain').open");
    }
}
