package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.admin.view.BreakerView;
import dev.tidegate.admin.view.EndpointView;
import dev.tidegate.admin.view.Page;
import dev.tidegate.admin.view.WeightView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FitnessTextTest {
    private static final EndpointView FIT =
            Views.judged("fit", null, Views.health("up", 0, "connected"), null, new BreakerView("closed", null), 100);
    private static final EndpointView DOWN = Views.judged(
            "down", "down: connection refused", Views.health("down", 0, "connection refused"), null, null, 100);
    private static final EndpointView HELD = Views.judged(
            "held", "down: connection refused", Views.health("down", 12_345, "connection refused"), null, null, 100);
    private static final EndpointView NOT_READY =
            Views.judged("busy", "not ready: HTTP 503", Views.health("not-ready", 0, "HTTP 503"), null, null, 100);
    private static final EndpointView UNCHECKED =
            Views.judged("new", "its first check is not over", Views.health("unknown", 0, ""), null, null, 100);
    private static final EndpointView EJECTED = Views.judged(
            "worse",
            "ejected until 2026-11-29T10:00:30.123Z: 5 failures in a row, the last: refused",
            Views.health("up", 0, "connected"),
            Views.ejection(),
            null,
            100);
    private static final EndpointView OPEN =
            Views.judged("open", "its breaker is open", null, null, new BreakerView("open", null), 100);
    private static final EndpointView ON_TRIAL = Views.judged(
            "trial",
            "its breaker is half open, and all trials are under way",
            null,
            null,
            new BreakerView("half-open", null),
            100);
    private static final EndpointView FULL =
            Views.judged("full", "full: 4 of 4 connections", null, null, null, 50); // half of its 8
    private static final EndpointView GROWING = Views.judged("cold", null, null, null, null, 62.5);

    private static Json json(Object view) {
        try {
            return Json.read(CannedApi.json(view).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(Page<?> backends) {
        return FitnessText.lines(json(backends).items());
    }

    private static List<String> panics(Page<?> backends) {
        return FitnessText.panics(json(backends).items());
    }

    private static String state(EndpointView endpoint) {
        return FitnessText.state(json(endpoint));
    }

    @Test
    void theStateIsAShortWordForTheFirstThingInTheWay() {
        assertEquals("ready", state(FIT));
        assertEquals("ready", state(GROWING));
        assertEquals("down", state(DOWN));
        assertEquals("not ready", state(NOT_READY));
        assertEquals("unchecked", state(UNCHECKED));
        assertEquals("ejected", state(EJECTED));
        assertEquals("breaker open", state(OPEN));
        assertEquals("on trial", state(ON_TRIAL));
        assertEquals("full", state(FULL));
        assertEquals("draining", state(Views.endpoint("a", "draining", 1, 1)));
    }

    @Test
    void anEndpointWithoutWeightOrAddressSaysSo() {
        assertEquals(
                "weight 0",
                FitnessText.state(json(Map.of(
                        "state", "ready", "weight", new WeightView(1, 0, 0), "addresses", List.of("10.0.0.1:80")))));
        assertEquals(
                "unresolved",
                FitnessText.state(
                        json(Map.of("state", "ready", "weight", new WeightView(1, null, 1), "addresses", List.of()))));
    }

    @Test
    void eachUnfitEndpointHasALineWithTheWholeReason() {
        assertEquals(
                List.of(
                        "web/down is not pickable: down: connection refused (since 2026-11-29T10:00:00Z)",
                        "web/held is not pickable: down: connection refused (since 2026-11-29T10:00:00Z, held down for "
                                + "another 12s because it flaps)",
                        "web/busy is not pickable: not ready: HTTP 503 (since 2026-11-29T10:00:00Z)",
                        "web/worse is not pickable: ejected until 2026-11-29T10:00:30Z: 5 failures in a row, the last: "
                                + "refused",
                        "web/open is not pickable: its breaker is open",
                        "web/full is not pickable: full: 4 of 4 connections",
                        "web/cold is in slow start: 62.5% of its share"),
                lines(Views.backends(FIT, DOWN, HELD, NOT_READY, EJECTED, OPEN, FULL, GROWING)));
    }

    @Test
    void whatTheStateSaysAlreadyIsNotRepeated() {
        assertEquals("", FitnessText.why(json(Map.of("state", "draining", "reason", "draining"))));
        assertEquals(
                "draining; weight 0",
                FitnessText.why(json(Map.of("state", "draining", "reason", "draining; weight 0"))));
        assertEquals(List.of(), lines(Views.backends(FIT)));
    }

    @Test
    void aProcessThatKnowsNoShareHasNoSlowStart() {
        assertEquals(
                List.of(),
                FitnessText.lines(List.of(json(Map.of(
                        "name",
                        "web",
                        "endpoints",
                        List.of(Map.of("name", "a", "state", "ready", "pickable", true)))))));
    }

    @Test
    void panicCountsThoseThatTakeConnectionsAndHaveBeenCheckedFullOnesAmongTheFit() {
        EndpointView draining = Views.endpoint("gone", "draining", 1, 1);

        assertEquals(
                List.of("backend web is in panic: 1 of 3 endpoints fit, connections are spread over all"),
                panics(Views.backends(true, true, FULL, DOWN, EJECTED, UNCHECKED, draining)));
        assertEquals(
                List.of("backend web is in panic: 0 of 2 endpoints fit, connections go to fit ones alone"),
                panics(Views.backends(true, false, OPEN, NOT_READY)));
        assertEquals(List.of(), panics(Views.backends(false, false, FIT, DOWN)));
    }

    @Test
    void beforeAnyCheckConnectionsAreSpreadWithoutPanic() {
        assertEquals(
                List.of("backend web: no endpoint is checked yet, connections are spread over all"),
                panics(Views.backends(false, true, UNCHECKED)));
    }
}
