package dev.tidegate.admin;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** A proxy that is as ready as it is told to be. */
final class FakeOperations implements ProxyOperations {
    volatile Readiness readiness =
            new Readiness(Readiness.State.READY, List.of(new Readiness.FrontendReadiness("edge", true)));
    volatile String metrics = "up 1\n";
    volatile RuntimeException failure;
    volatile Runnable onScrape = () -> {};

    @Override
    public Readiness readiness(Optional<String> frontend) {
        if (failure != null) {
            throw failure;
        }
        Readiness all = readiness;
        return new Readiness(
                all.state(),
                all.frontends().stream()
                        .filter(each -> frontend.isEmpty() || frontend.get().equals(each.name()))
                        .toList());
    }

    @Override
    public void writeMetrics(MetricsFormat format, OutputStream out) throws IOException {
        onScrape.run();
        out.write((format + " " + metrics).getBytes(StandardCharsets.UTF_8));
    }
}
