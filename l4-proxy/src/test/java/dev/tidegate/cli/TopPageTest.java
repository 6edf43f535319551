package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.admin.view.EndpointView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;

class TopPageTest {
    private static final long SECOND = 1_000_000_000;

    private final TopState state = new TopState();

    private static Json json(Object view) {
        try {
            return Json.read(CannedApi.json(view).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TopSample sample(long nanos, long accepted, EndpointView... endpoints) {
        return new TopSample(
                nanos,
                json(Views.status(Views.operation("running", 15))),
                json(Views.frontends(accepted)),
                json(Views.backends(endpoints)),
                json(Views.connections()));
    }

    private static TopSample.Pair pair() {
        return new TopSample.Pair(
                sample(
                        5 * SECOND,
                        100,
                        Views.endpoint("a", "ready", 20, 1_000),
                        Views.endpoint("b", "draining", 7, 500)),
                sample(
                        7 * SECOND,
                        150,
                        Views.endpoint("a", "ready", 10, 1_020),
                        Views.endpoint("b", "draining", 5, 500),
                        Views.endpoint("c", "disabled", 40, 77)));
    }

    private List<String> page(int width, int height) {
        return page(width, height, pair());
    }

    private List<String> page(int width, int height, TopSample.Pair pair) {
        return new TopPage(width, height, false, true)
                .lines(pair, state, "").stream().map(AttributedString::toString).toList();
    }

    private String rows(List<String> page) {
        return page.stream()
                .filter(line -> line.startsWith("web "))
                .map(line -> line.split(" +", -1)[1])
                .collect(Collectors.joining());
    }

    @Test
    void endpointsAreShownWithRatesOfTheTimeBetweenTwoAnswers() {
        assertEquals(
                """
                tidegate 1.2.3  ready  up 3d04h  generation 12
                connections 41/10000  accepts/s 25.0  in 24.4 KiB/s  out 0 B/s
                drain backends/web/endpoints/a [##########          ] 15 of 30 left, oldest 3m05

                [backends]  1-3 of 3
                BACKEND  ENDPOINT  STATE         IN-FLIGHT            WEIGHT  PICKS/S  FAILED/S
                web      a         ready                10 ##              5     10.0       0.0
                web      b         draining              5 #               5      0.0       0.0
                web      c         disabled             40 #########       5      0.0       0.0

                 q quit  f view  s sort  r reverse  space pause  j/k scroll  ? help
                """,
                page(80, 11).stream().map(line -> line.stripTrailing() + "\n").collect(Collectors.joining()));
    }

    @Test
    void everyViewFillsEightyByTwentyFourAndNoMore() {
        for (TopView view : TopView.values()) {
            assertEquals(view, state.view());
            List<String> page = page(80, 24);
            assertEquals(24, page.size(), view::toString);
            page.forEach(line -> assertTrue(line.length() <= 80, line));
            state.key(TopKey.VIEW);
        }
        assertEquals(TopView.BACKENDS, state.view());
    }

    @Test
    void aScreenThatIsFarTooSmallIsStillDrawn() {
        for (int height = 1; height < 12; height++) {
            assertEquals(height, page(10, height).size());
        }
    }

    @Test
    void whatThereIsNoRoomForIsLeftOutFromTheEnd() {
        state.key(TopKey.VIEW);
        state.key(TopKey.VIEW);

        assertFalse(page(80, 24).get(5).contains("PROTOCOL"));
        assertTrue(page(140, 24).get(5).contains("PROTOCOL"));
    }

    @Test
    void sortGoesThroughTheColumnsAndBackToTheOrderOfTheConfiguration() {
        assertEquals("abc", rows(page(80, 24)));
        state.key(TopKey.SORT); // backend
        state.key(TopKey.SORT); // endpoint
        assertEquals("abc", rows(page(80, 24)));
        state.key(TopKey.SORT); // state
        assertEquals("cba", rows(page(80, 24)));
        state.key(TopKey.SORT); // in-flight, the greatest first
        assertEquals("cab", rows(page(80, 24)));
        assertTrue(page(80, 24).get(5).contains("IN-FLIGHTv"));
        state.key(TopKey.REVERSE);
        assertEquals("bac", rows(page(80, 24)));
        state.key(TopKey.SORT); // weight: the bar is passed over
        assertTrue(page(80, 24).get(5).contains("WEIGHT^"));
        state.key(TopKey.SORT); // picks
        state.key(TopKey.SORT); // failed
        state.key(TopKey.SORT); // why
        state.key(TopKey.SORT);
        assertEquals(TopState.UNSORTED, state.sort());
        assertEquals("cba", rows(page(80, 24)), "still reversed");
    }

    private static TopSample.Pair unfit() {
        EndpointView down = Views.judged("a", "down: HTTP 500", Views.health("down", 0, "HTTP 500"), null, null, 100);
        EndpointView ejected = Views.judged("b", "ejected until then", null, Views.ejection(), null, 100);
        EndpointView fit = Views.judged("c", null, Views.health("up", 0, "HTTP 200"), null, null, 100);
        TopSample sample = new TopSample(
                0,
                json(Views.status()),
                json(Views.frontends(0)),
                json(Views.backends(true, true, down, ejected, fit)),
                json(Views.connections()));
        return new TopSample.Pair(sample, sample);
    }

    @Test
    void whatSpeaksAgainstEndpointsIsShownInRedWithTheReasonWhereThereIsRoom() {
        List<AttributedString> wide = new TopPage(140, 24, false, true).lines(unfit(), state, "");

        assertEquals(
                "backend web is in panic: 1 of 3 endpoints fit, connections are spread over all",
                wide.get(2).toString());
        assertTrue(wide.get(2).toAnsi().contains("\u001b[31m"), wide.get(2).toAnsi());
        String down = wide.get(6).toAnsi();
        assertTrue(down.contains("\u001b[31mdown"), down);
        assertTrue(down.contains("down: HTTP 500 (since"), down);
        assertTrue(
                wide.get(7).toAnsi().contains("\u001b[31mejected"), wide.get(7).toAnsi());
        assertTrue(wide.get(8).toAnsi().contains("\u001b[32mready"), wide.get(8).toAnsi());

        String narrow = page(80, 24, unfit()).get(6);
        assertTrue(narrow.contains("down"), narrow);
        assertFalse(narrow.contains("HTTP 500"), narrow);
    }

    @Test
    void scrollingEndsAtTheLastRow() {
        EndpointView[] many = IntStream.range(0, 50)
                .mapToObj(i -> Views.endpoint("e" + i, "ready", i, i))
                .toArray(EndpointView[]::new);
        TopSample sample = sample(0, 0, many);
        TopSample.Pair pair = new TopSample.Pair(sample, sample);

        assertTrue(page(80, 24, pair).get(4).contains("1-17 of 50"));
        state.key(TopKey.DOWN);
        assertTrue(page(80, 24, pair).get(4).contains("2-18 of 50"));
        state.key(TopKey.END);
        assertTrue(page(80, 24, pair).get(4).contains("34-50 of 50"));
        state.key(TopKey.UP);
        assertTrue(page(80, 24, pair).get(4).contains("33-49 of 50"));
        state.key(TopKey.HOME);
        state.key(TopKey.UP);
        assertTrue(page(80, 24, pair).get(4).contains("1-17 of 50"));
    }

    @Test
    void aCounterThatFellIsNoRate() {
        TopSample.Pair restarted = new TopSample.Pair(sample(0, 500), sample(SECOND, 3));

        assertTrue(page(80, 24, restarted).get(1).contains("accepts/s 0.0"));
    }

    @Test
    void troubleIsShownBesideTheLastPictureInRed() {
        List<AttributedString> page = new TopPage(80, 24, true, true).lines(pair(), state, "cannot reach\u001b[31m it");

        assertEquals("cannot reach?[31m it", page.get(2).toString());
        assertTrue(page.get(2).toAnsi().contains("\u001b[31;1m"), page.get(2).toAnsi());
    }

    @Test
    void howOldThePictureIsAndForHowLongNobodyAnswersIsSaid() {
        ApiAddress address = ApiAddress.parse("unix:/a");
        OptionalLong none = OptionalLong.empty();
        OptionalLong one = OptionalLong.of(SECOND);
        OptionalLong five = OptionalLong.of(5 * SECOND);
        OptionalLong six = OptionalLong.of(6 * SECOND);

        assertEquals("", TopPoll.words(address, "", none, one));
        assertEquals("", TopPoll.words(address, "", one, six));
        assertEquals("as of 6s ago: no answer for 5s from unix:/a", TopPoll.words(address, "", five, six));
        assertEquals("as of 6s ago: cannot reach it", TopPoll.words(address, "cannot reach it", none, six));
        assertEquals("as of 6s ago: no answer for 5s from unix:/a", TopPoll.words(address, "it was gone", five, six));
        assertEquals("waiting for unix:/a", TopPoll.words(address, "", one, none));
        assertEquals("no answer for 5s from unix:/a", TopPoll.words(address, "", five, none));
    }

    @Test
    void beforeTheFirstAnswerThePageSaysWhatIsWaitedFor() {
        List<String> page = new TopPage(80, 24, true, true)
                .empty("no answer for 5s").stream()
                        .map(AttributedString::toString)
                        .toList();

        assertEquals(24, page.size());
        assertEquals(List.of("tidegate", "no answer for 5s"), page.subList(0, 2));
        assertTrue(page.get(23).contains("q quit"), page.get(23));
        assertEquals(1, new TopPage(10, 1, true, true).empty("no answer").size());
    }

    @Test
    void withoutColourThereIsNone() {
        String drawn = new TopPage(80, 24, true, false)
                .lines(pair(), state, "trouble").stream()
                        .map(AttributedString::toAnsi)
                        .collect(Collectors.joining());

        assertFalse(drawn.matches("(?s).*\u001b\\[(\\d+;)*3[0-7].*"), drawn);
    }

    @Test
    void helpTakesThePlaceOfTheTable() {
        state.key(TopKey.HELP);
        assertTrue(page(80, 24).stream().anyMatch(line -> line.contains("the next view")));
        state.key(TopKey.HELP);
        assertEquals("abc", rows(page(80, 24)));
    }

    @Test
    void keysAndTheirSequencesAreKnown() throws IOException {
        Map<String, TopKey> keys = Map.ofEntries(
                Map.entry("q", TopKey.QUIT),
                Map.entry("\u0003", TopKey.QUIT),
                Map.entry("\u001b[A", TopKey.UP),
                Map.entry("\u001bOB", TopKey.DOWN),
                Map.entry("\u001b[5~", TopKey.PAGE_UP),
                Map.entry("\u001b[6~", TopKey.PAGE_DOWN),
                Map.entry("\u001b[1~", TopKey.HOME),
                Map.entry("\u001b[F", TopKey.END),
                Map.entry("\u001b[1;5C", TopKey.HOME),
                Map.entry("\u001b", TopKey.NONE),
                Map.entry(" ", TopKey.PAUSE),
                Map.entry("x", TopKey.NONE),
                Map.entry("", TopKey.NONE));
        Map<String, TopKey> read = keys.keySet().stream().collect(Collectors.toMap(text -> text, TopPageTest::read));

        assertAll(() -> assertEquals(keys, read), () -> assertEquals(TopKey.QUIT, TopKey.read(() -> -1)));
    }

    private static TopKey read(String text) {
        Deque<Integer> left = text.chars().boxed().collect(Collectors.toCollection(ArrayDeque::new));
        try {
            TopKey key = TopKey.read(() -> left.isEmpty() ? TopKey.NOTHING_YET : left.poll());
            assertTrue(left.isEmpty(), () -> "left over of " + text);
            return key;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
