package dev.tidegate.control;

import dev.tidegate.config.HealthConfig;
import dev.tidegate.health.Probe;
import dev.tidegate.health.probe.Bytes;
import dev.tidegate.health.probe.ExecProbe;
import dev.tidegate.health.probe.GrpcProbe;
import dev.tidegate.health.probe.HttpProbe;
import dev.tidegate.health.probe.Regex;
import dev.tidegate.health.probe.SendExpectProbe;
import dev.tidegate.health.probe.TcpProbe;
import dev.tidegate.health.probe.TlsProbe;
import java.util.List;

/** Makes a probe of what the configuration says. Pure; any thread. */
final class Probes {
    private Probes() {}

    static Probe of(HealthConfig.Check check) {
        if (check instanceof HealthConfig.Tcp tcp) {
            return new TcpProbe(tcp.reset());
        } else if (check instanceof HealthConfig.SendExpect dialogue) {
            return new SendExpectProbe(
                    dialogue.steps().stream().map(Probes::step).toList(),
                    dialogue.notReady().map(Regex::of));
        } else if (check instanceof HealthConfig.Http http) {
            return http(http);
        } else if (check instanceof HealthConfig.Grpc grpc) {
            return new GrpcProbe(grpc.service(), grpc.host());
        } else if (check instanceof HealthConfig.Tls tls) {
            return new TlsProbe(tls.serverName(), tls.ca());
        } else if (check instanceof HealthConfig.Exec exec) {
            return new ExecProbe(exec.command());
        }
        throw new IllegalArgumentException("no probe for " + check);
    }

    private static SendExpectProbe.Step step(HealthConfig.Step step) {
        return switch (step.kind()) {
            case SEND -> new SendExpectProbe.Send(Bytes.ofText(step.text()));
            case SEND_HEX -> new SendExpectProbe.Send(Bytes.ofHex(step.text()));
            case EXPECT -> new SendExpectProbe.Expect(Bytes.ofText(step.text()));
            case EXPECT_HEX -> new SendExpectProbe.Expect(Bytes.ofHex(step.text()));
            case EXPECT_REGEX -> new SendExpectProbe.ExpectRegex(Regex.of(step.text()));
        };
    }

    private static HttpProbe http(HealthConfig.Http http) {
        List<HttpProbe.Header> headers =
                http.headers().stream().map(Probes::header).toList();
        return new HttpProbe(
                new HttpProbe.Request(http.method(), http.path(), http.host(), headers),
                new HttpProbe.Expected(
                        statuses(http.expectStatus()),
                        statuses(http.notReadyStatus()),
                        http.expectBody().map(Regex::of)),
                http.http2());
    }

    private static HttpProbe.Header header(String line) {
        int colon = line.indexOf(':');
        return new HttpProbe.Header(
                line.substring(0, colon), line.substring(colon + 1).strip());
    }

    private static List<HttpProbe.Statuses> statuses(List<HealthConfig.StatusRange> ranges) {
        return ranges.stream()
                .map(range -> new HttpProbe.Statuses(range.from(), range.to()))
                .toList();
    }
}
