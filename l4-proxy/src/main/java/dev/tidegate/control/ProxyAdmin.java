package dev.tidegate.control;

import dev.tidegate.admin.MetricsFormat;
import dev.tidegate.admin.ProxyOperations;
import dev.tidegate.admin.Readiness;
import dev.tidegate.model.Frontend;
import dev.tidegate.telemetry.Metrics;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/** What the admin API serves, of a running proxy. Any thread. */
public final class ProxyAdmin implements ProxyOperations {
    private final Proxy proxy;
    private final Metrics metrics;

    /** Serves that proxy and those metrics. */
    public ProxyAdmin(Proxy proxy, Metrics metrics) {
        this.proxy = proxy;
        this.metrics = metrics;
    }

    @Override
    public Readiness readiness(Optional<String> frontend) {
        Readiness.State state =
                switch (proxy.phase()) {
                    case STARTING -> Readiness.State.STARTING;
                    case RUNNING -> Readiness.State.READY;
                    case DRAINING, STOPPED -> Readiness.State.DRAINING;
                };
        return new Readiness(
                state,
                proxy.snapshot().frontends().stream()
                        .filter(candidate ->
                                frontend.isEmpty() || frontend.get().equals(candidate.name()))
                        .map(ProxyAdmin::readiness)
                        .toList());
    }

    private static Readiness.FrontendReadiness readiness(Frontend frontend) {
        return new Readiness.FrontendReadiness(
                frontend.name(), frontend.backend().hasCandidate());
    }

    @Override
    public void writeMetrics(MetricsFormat format, OutputStream out) throws IOException {
        metrics.write(
                switch (format) {
                    case PROMETHEUS_TEXT -> Metrics.Format.PROMETHEUS_TEXT;
                    case OPENMETRICS -> Metrics.Format.OPENMETRICS;
                },
                out);
    }
}
