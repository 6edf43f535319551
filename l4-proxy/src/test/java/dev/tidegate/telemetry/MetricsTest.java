package dev.tidegate.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Backend;
import dev.tidegate.model.BalancePolicy;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectPolicy;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.EndpointList;
import dev.tidegate.model.Frontend;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.Picker;
import dev.tidegate.model.Protocol;
import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.ProxyProtocol;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import dev.tidegate.model.Snapshot;
import dev.tidegate.model.Timeouts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What a scrape shows. */
final class MetricsTest {
    private static final long MILLI = 1_000_000;

    private final EndpointCell a =
            new EndpointCell("gateways", "10.0.0.11:80", 0, List.of(Records.address("10.0.0.11", 80)));
    private final EndpointCell b = new EndpointCell("gateways", "b.test:80", 1, List.of());
    private final FrontendCell edge = new FrontendCell("edge", 0);
    private final FrontendCell inner = new FrontendCell("in\"ner\\\n", 1);
    private final List<WorkerCounters> workers = List.of(new WorkerCounters(0), new WorkerCounters(1));
    private final AtomicReference<Snapshot> snapshot = new AtomicReference<>(snapshot(7, List.of(a, b), edge));
    private final AtomicLong nanos = new AtomicLong();
    private final ReloadCounts reloads = new ReloadCounts();
    private final AccessLog accessLog;
    private final Metrics metrics;

    MetricsTest() throws IOException {
        accessLog = AccessLog.open(
                new AccessLogTarget.None(), AccessLogFormat.JSON, 16, InstantSource.system(), new FloodLog(() -> 0));
        metrics = new Metrics(snapshot::get, workers, reloads, accessLog, "1.2.3", nanos::get);
    }

    private static Snapshot snapshot(long generation, List<EndpointCell> cells, FrontendCell... frontends) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (EndpointCell cell : cells) {
            endpoints.add(new Endpoint(cell.slot() == 0 ? "a" : "b", 2 + cell.slot(), Integer.MAX_VALUE, cell));
        }
        Picker picker = (all, tried, random) -> Picker.NONE;
        Backend backend = new Backend(
                "gateways",
                0,
                BalancePolicy.POWER_OF_TWO,
                picker,
                new EndpointList(endpoints),
                new ConnectPolicy(1, 1, 1, ProxyProtocol.OFF));
        List<Frontend> list = new ArrayList<>();
        for (FrontendCell cell : frontends) {
            list.add(new Frontend(
                    cell.name(),
                    List.of(),
                    backend,
                    ProtocolChoice.AUTO,
                    10,
                    new Timeouts(1, 1, 1),
                    Lifetime.DEFAULT,
                    cell));
        }
        return new Snapshot(generation, list, List.of(backend));
    }

    private String scrape(Metrics.Format format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        metrics.write(format, out);
        return out.toString(StandardCharsets.UTF_8);
    }

    /** The value of a series; fails when it is not there once. */
    private static double value(String scrape, String series) {
        Matcher line =
                Pattern.compile("(?m)^" + Pattern.quote(series) + " (\\S+)$").matcher(scrape);
        assertTrue(line.find(), "no " + series + " in\n" + scrape);
        double value = Double.parseDouble(line.group(1));
        assertFalse(line.find(), "twice: " + series);
        return value;
    }

    @Test
    void sumsOfDurationsOutlastALongOfNanoseconds() throws IOException {
        long centuries = 9_000_000_000_999_999_999L;
        for (WorkerCounters worker : workers) {
            worker.frontend(0).duration.add(centuries);
            worker.frontend(0).duration.add(centuries);
        }

        String scrape = scrape(Metrics.Format.PROMETHEUS_TEXT);

        assertEquals(
                36_000_000_004.0, value(scrape, "tidegate_connection_duration_seconds_sum{frontend=\"edge\"}"), 1e-3);
    }

    /** a has weight 2, b has weight 3. */
    @Test
    void imbalanceIsTheGreatestShareOfAFairShare() throws IOException {
        String connections = "tidegate_backend_imbalance{backend=\"gateways\",kind=\"connections\"}";
        String requests = "tidegate_backend_imbalance{backend=\"gateways\",kind=\"requests\"}";
        assertEquals(1, value(scrape(Metrics.Format.PROMETHEUS_TEXT), connections));
        assertEquals(1, value(scrape(Metrics.Format.PROMETHEUS_TEXT), requests));

        b.resolve(List.of(Records.address("10.0.0.12", 80)));
        for (int i = 0; i < 6; i++) {
            assertTrue(a.tryAcquire(9));
        }
        workers.get(0).endpoint(0).requests = 400;
        workers.get(1).endpoint(1).requests = 600;
        nanos.set(100_000 * MILLI);
        String all = scrape(Metrics.Format.PROMETHEUS_TEXT);
        assertEquals(2.5, value(all, connections)); // 6 where 6 x 2/5 were fair
        assertEquals(1, value(all, requests));
        assertEquals(400, value(all, "tidegate_endpoint_requests_total{backend=\"gateways\",endpoint=\"a\"}"));

        workers.get(1).endpoint(1).requests += 90;
        workers.get(0).endpoint(0).requests += 10;
        nanos.set(115_000 * MILLI);
        scrape(Metrics.Format.OPENMETRICS);
        nanos.set(170_000 * MILLI);
        assertEquals(1.5, value(scrape(Metrics.Format.PROMETHEUS_TEXT), requests), 1e-9); // 90 where 60 were fair

        b.close(EndpointCell.Closed.DRAINING, true);
        all = scrape(Metrics.Format.PROMETHEUS_TEXT);
        assertEquals(1, value(all, connections)); // of those that take connections
        b.close(EndpointCell.Closed.DRAINING, false);
        for (int i = 0; i < 6; i++) {
            a.release();
        }
    }

    @Test
    void recentRequestsAreThoseOfAMinuteHoweverOftenSomebodyLooks() {
        RecentRequests recent = new RecentRequests(0);
        long second = 1_000 * MILLI;
        for (long at = 1; at <= 300; at++) {
            long now = recent.since(Map.of(a, 5 * at), at * second).get(a);
            long most = 5 * Math.min(at, 70);
            assertTrue(now <= most && now >= Math.min(5 * at, 300), now + " at " + at);
        }
    }

    @Test
    void valuesAreSumsOverAllWorkers() throws IOException {
        edge.tryEnter(Integer.MAX_VALUE);
        a.tryAcquire(9);
        for (WorkerCounters worker : workers) {
            worker.frontend(0).accepted += 5;
            worker.frontend(0).receivedBytes += 1_000_000_000_000L;
            worker.frontend(0).sentBytes += 3;
            worker.frontend(0).countRequest(Protocol.HTTP1);
            worker.frontend(0).countRequest(Protocol.HTTP1);
            worker.frontend(0).countRequest(Protocol.HTTP2);
            worker.frontend(0).countClosed(CloseReason.CLIENT_CLOSED);
            worker.frontend(0).countRetired(CloseReason.SHUTDOWN, RetireHow.QUIET);
            worker.frontend(0).duration.add(2 * MILLI);
            worker.countPaused(Side.UPSTREAM);
            worker.turns().add(20_000);
            worker.connections(4);
        }
        workers.get(1).frontend(0).countClosed(CloseReason.DIAL_TIMEOUT);
        workers.get(1).endpoint(0).picks += 6;
        workers.get(1).endpoint(0).countConnect(ConnectResult.REFUSED);
        workers.get(1).endpoint(0).connectDuration.add(MILLI);
        workers.get(1).backend(0).retries += 2;
        reloads.count(ReloadCounts.Result.REJECTED);

        String scrape = scrape(Metrics.Format.PROMETHEUS_TEXT);

        TreeMap<String, Double> expected = new TreeMap<>();
        expected.put("tidegate_connections_active{frontend=\"edge\"}", 1.0);
        expected.put("tidegate_connections_accepted_total{frontend=\"edge\"}", 10.0);
        expected.put("tidegate_connections_closed_total{frontend=\"edge\",reason=\"client-closed\"}", 2.0);
        expected.put("tidegate_connections_closed_total{frontend=\"edge\",reason=\"endpoint-closed\"}", 0.0);
        expected.put("tidegate_connections_closed_total{frontend=\"edge\",reason=\"dial-timeout\"}", 1.0);
        expected.put("tidegate_connections_retired_total{frontend=\"edge\",how=\"quiet\",reason=\"shutdown\"}", 2.0);
        expected.put("tidegate_connection_duration_seconds_bucket{frontend=\"edge\",le=\"0.001\"}", 0.0);
        expected.put("tidegate_connection_duration_seconds_bucket{frontend=\"edge\",le=\"0.01\"}", 2.0);
        expected.put("tidegate_connection_duration_seconds_bucket{frontend=\"edge\",le=\"+Inf\"}", 2.0);
        expected.put("tidegate_connection_duration_seconds_count{frontend=\"edge\"}", 2.0);
        expected.put("tidegate_connection_duration_seconds_sum{frontend=\"edge\"}", 0.004);
        expected.put("tidegate_requests_total{frontend=\"edge\",protocol=\"http1\"}", 4.0);
        expected.put("tidegate_requests_total{frontend=\"edge\",protocol=\"http2\"}", 2.0);
        expected.put("tidegate_requests_total{frontend=\"edge\",protocol=\"tcp\"}", 0.0);
        expected.put("tidegate_received_bytes_total{frontend=\"edge\"}", 2e12);
        expected.put("tidegate_sent_bytes_total{frontend=\"edge\"}", 6.0);
        expected.put("tidegate_endpoint_in_flight{backend=\"gateways\",endpoint=\"a\"}", 1.0);
        expected.put("tidegate_endpoint_state{backend=\"gateways\",endpoint=\"a\",state=\"pickable\"}", 1.0);
        expected.put("tidegate_endpoint_state{backend=\"gateways\",endpoint=\"b\",state=\"pickable\"}", 0.0);
        expected.put("tidegate_endpoint_state{backend=\"gateways\",endpoint=\"b\",state=\"ready\"}", 1.0);
        expected.put("tidegate_endpoint_weight{backend=\"gateways\",endpoint=\"b\",kind=\"configured\"}", 3.0);
        expected.put("tidegate_endpoint_weight{backend=\"gateways\",endpoint=\"b\",kind=\"effective\"}", 3.0);
        expected.put("tidegate_endpoint_connects_total{backend=\"gateways\",endpoint=\"a\",result=\"refused\"}", 1.0);
        expected.put("tidegate_endpoint_connects_total{backend=\"gateways\",endpoint=\"b\",result=\"ok\"}", 0.0);
        expected.put("tidegate_endpoint_connect_duration_seconds_count{backend=\"gateways\",endpoint=\"a\"}", 1.0);
        expected.put("tidegate_endpoint_picks_total{backend=\"gateways\",endpoint=\"a\"}", 6.0);
        expected.put("tidegate_dial_retries_total{backend=\"gateways\"}", 2.0);
        expected.put("tidegate_flow_paused_total{side=\"upstream\"}", 2.0);
        expected.put("tidegate_flow_paused_total{side=\"downstream\"}", 0.0);
        expected.put("tidegate_config_generation", 7.0);
        expected.put("tidegate_config_reloads_total{result=\"applied\"}", 0.0);
        expected.put("tidegate_config_reloads_total{result=\"rejected\"}", 1.0);
        expected.put("tidegate_config_reloads_total{result=\"unchanged\"}", 0.0);
        expected.put("tidegate_worker_connections{worker=\"1\"}", 4.0);
        expected.put("tidegate_worker_turn_seconds_count{worker=\"0\"}", 1.0);
        expected.put("tidegate_build_info{version=\"1.2.3\"}", 1.0);
        expected.put("tidegate_access_log_dropped_total", 0.0);
        expected.forEach((series, value) -> assertEquals(value, value(scrape, series), 1e-12, series));
        assertFalse(scrape.contains("reason=\"idle\""), "an end that never was");
    }

    @Test
    void seriesOfARemovedEndpointGoAndTotalsOfAFrontendStay() throws IOException {
        workers.get(0).frontend(0).accepted = 3;
        workers.get(0).endpoint(0).picks = 3;
        value(
                scrape(Metrics.Format.PROMETHEUS_TEXT),
                "tidegate_endpoint_picks_total{backend=\"gateways\",endpoint=\"a\"}");

        snapshot.set(snapshot(8, List.of(b), inner));
        String scrape = scrape(Metrics.Format.PROMETHEUS_TEXT);

        assertFalse(scrape.contains("endpoint=\"a\""), scrape);
        assertEquals(3, value(scrape, "tidegate_connections_accepted_total{frontend=\"edge\"}"));
        assertEquals(0, value(scrape, "tidegate_connections_accepted_total{frontend=\"in\\\"ner\\\\\\n\"}"));
    }

    @Test
    void everyFamilyHasHelpAndTypeAndLabelsOfTheContractOnly() {
        Set<String> known = Set.of(
                "frontend",
                "listener",
                "backend",
                "endpoint",
                "reason",
                "result",
                "worker",
                "side",
                "protocol",
                "state",
                "kind",
                "how",
                "version");
        Set<String> names = new HashSet<>();
        for (MetricFamily family : MetricFamilies.ALL) {
            assertTrue(names.add(family.name()), "twice: " + family.name());
            assertTrue(family.name().startsWith("tidegate_"));
            assertTrue(known.containsAll(family.labels()), family.name());
            assertTrue(family.help().endsWith("."), family.help());
            assertEquals(
                    family.type() == MetricFamily.Type.COUNTER, family.name().endsWith("_total"), family.name());
        }
    }

    @Test
    void theDocumentedTableIsWhatIsRegistered() throws IOException {
        List<String> documented = new ArrayList<>();
        Matcher row = Pattern.compile("(?m)^\\| `(tidegate_\\w+)` \\| (\\w+) \\| ([^|]*) \\| ([^|]*) \\|$")
                .matcher(Files.readString(Path.of("../docs/metrics.md")));
        while (row.find()) {
            documented.add(row.group(0));
        }

        List<String> registered = new ArrayList<>();
        for (MetricFamily family : MetricFamilies.ALL) {
            StringBuilder labels = new StringBuilder();
            family.labels()
                    .forEach(label -> labels.append(labels.isEmpty() ? "`" : " `")
                            .append(label)
                            .append('`'));
            registered.add("| `" + family.name() + "` | " + family.type().name().toLowerCase(Locale.ROOT) + " | "
                    + labels + " | " + family.help() + " |");
        }
        assertEquals(String.join("\n", registered), String.join("\n", documented));
    }

    @Test
    void openMetricsEndsWithItsMarkAndNamesUnits() throws IOException {
        String scrape = scrape(Metrics.Format.OPENMETRICS);

        assertTrue(scrape.endsWith("# EOF\n"), scrape);
        assertTrue(scrape.contains("# TYPE tidegate_received_bytes counter\n"), scrape);
        assertTrue(scrape.contains("# UNIT tidegate_received_bytes bytes\n"), scrape);
        assertTrue(scrape.contains("# UNIT tidegate_worker_turn_seconds seconds\n"), scrape);
        assertTrue(scrape.contains("# TYPE tidegate_build info\n"), scrape);
        assertEquals(0, value(scrape, "tidegate_received_bytes_total{frontend=\"edge\"}"));
    }

    @Test
    void theProcessAndItsMachineAreShown() throws IOException {
        String scrape = scrape(Metrics.Format.PROMETHEUS_TEXT);

        for (String series : List.of(
                "process_start_time_seconds",
                "process_cpu_seconds_total",
                "process_open_fds",
                "process_max_fds",
                "process_resident_memory_bytes",
                "jvm_threads_current",
                "jvm_memory_used_bytes{area=\"heap\"}")) {
            assertTrue(value(scrape, series) > 0, series);
        }
    }
}
