package dev.tidegate.control;

import dev.tidegate.config.AdminTlsConfig;
import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.Durations;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.LifetimeConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.config.ProcessConfig;
import dev.tidegate.config.Sizes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Effective values by key, in the configuration's words: what is compared, and what a difference shows. Stateless. */
final class ConfigValues {
    private ConfigValues() {}

    static Map<String, String> ofProcess(Config config) {
        ProcessConfig process = config.process();
        Map<String, String> values = new LinkedHashMap<>();
        values.put("process.workers", number(process.workers(), "auto"));
        values.put("process.transport", process.transport().name().toLowerCase(Locale.ROOT));
        values.put("process.max-connections", number(process.maxConnections(), "auto"));
        values.put("process.state-dir", process.stateDir().orElse("default"));
        values.put("process.warm-up", process.warmUp().map(Durations::format).orElse("off"));
        values.put(
                "process.shutdown.deadline", Durations.format(process.shutdown().deadline()));
        values.put(
                "process.shutdown.spread", Durations.format(process.shutdown().spread()));
        values.put(
                "process.shutdown.lame-duck",
                Durations.format(process.shutdown().lameDuck()));
        values.put(
                "admin.listen",
                config.admin().listen().isEmpty()
                        ? "default"
                        : addresses(config.admin().listen()));
        values.put("admin.token-file", config.admin().tokenFile().orElse("none"));
        Optional<AdminTlsConfig> tls = config.admin().tls();
        values.put("admin.tls.certificate", tls.map(AdminTlsConfig::certificate).orElse("none"));
        values.put("admin.tls.key", tls.map(AdminTlsConfig::key).orElse("none"));
        values.put("admin.tls.client-ca", tls.flatMap(AdminTlsConfig::clientCa).orElse("none"));
        values.put("log.level", word(config.log().level()));
        values.put("log.access.path", config.log().access().path());
        values.put("log.access.format", word(config.log().access().format()));
        return values;
    }

    static Map<String, String> of(FrontendConfig frontend) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("listen", addresses(frontend.listen()));
        values.put("backend", frontend.backend());
        values.put("protocol", word(frontend.protocol()));
        values.put("max-connections", number(frontend.maxConnections(), "none"));
        values.put("timeouts.idle", duration(frontend.timeouts().idle()));
        values.put("timeouts.half-closed", duration(frontend.timeouts().halfClosed()));
        values.put("timeouts.unacked", duration(frontend.timeouts().unacked()));
        lifetime(frontend.lifetime(), values);
        return values;
    }

    private static void lifetime(LifetimeConfig lifetime, Map<String, String> values) {
        values.put("lifetime.max-age", duration(lifetime.maxAge()));
        values.put("lifetime.jitter", lifetime.jitterPercent() + "%");
        values.put("lifetime.max-requests", number(lifetime.maxRequests(), "off"));
        values.put(
                "lifetime.max-bytes",
                lifetime.maxBytes().isPresent()
                        ? Sizes.format(lifetime.maxBytes().getAsLong())
                        : "off");
        values.put("lifetime.grace", Durations.format(lifetime.grace()));
        values.put("lifetime.quiet", Durations.format(lifetime.quiet()));
        values.put("lifetime.linger", Durations.format(lifetime.linger()));
    }

    /** Without its endpoints, and without those groups that may be off. */
    static Map<String, String> of(BackendConfig backend) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("balance", word(backend.balance()));
        values.put("connect.timeout", Durations.format(backend.connect().timeout()));
        values.put("connect.attempts", String.valueOf(backend.connect().attempts()));
        values.put("connect.deadline", Durations.format(backend.connect().deadline()));
        values.put("connect.proxy-protocol", word(backend.connect().proxyProtocol()));
        values.put("rebalance.on-join", String.valueOf(backend.rebalance().onJoin()));
        values.put("rebalance.spread", Durations.format(backend.rebalance().spread()));
        values.put("rebalance.max-share", backend.rebalance().maxSharePercent() + "%");
        values.put("panic.threshold", backend.panic().thresholdPercent() + "%");
        values.put("panic.mode", backend.panic().spread() ? "spread" : "refuse");
        return values;
    }

    static Map<String, String> of(EndpointConfig endpoint) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("address", endpoint.address().toString());
        values.put("weight", String.valueOf(endpoint.weight()));
        values.put("max-connections", number(endpoint.maxConnections(), "none"));
        return values;
    }

    /** All of them in one text. */
    static String text(Map<String, String> values) {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + ": " + entry.getValue())
                .collect(Collectors.joining(", ", "{", "}"));
    }

    /** In one order, whatever the file's: another order says nothing else. */
    private static String addresses(List<ListenAddress> addresses) {
        return addresses.stream().map(ListenAddress::toString).sorted().collect(Collectors.joining(", "));
    }

    private static String number(OptionalInt number, String none) {
        return number.isPresent() ? String.valueOf(number.getAsInt()) : none;
    }

    private static String duration(Optional<Duration> duration) {
        return duration.map(Durations::format).orElse("off");
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
