package dev.tidegate.admin;

/** The text in which metrics are answered. Immutable. */
public enum MetricsFormat {
    /** Prometheus text exposition, version 0.0.4. */
    PROMETHEUS_TEXT("text/plain; version=0.0.4; charset=utf-8"),
    /** OpenMetrics text, version 1.0. */
    OPENMETRICS("application/openmetrics-text; version=1.0.0; charset=utf-8");

    private final String contentType;

    MetricsFormat(String contentType) {
        this.contentType = contentType;
    }

    /** The media type that says so to the client. */
    public String contentType() {
        return contentType;
    }
}
