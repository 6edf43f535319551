package dev.tidegate.health.probe;

import java.util.List;
import java.util.Optional;

/** The usual checks by HTTP. */
final class Https {
    static final HttpProbe.Request GET = new HttpProbe.Request("GET", "/", Optional.empty(), List.of());

    private Https() {}

    static HttpProbe get() {
        return new HttpProbe(GET, passing(Optional.empty()), false);
    }

    static HttpProbe getting(String regex) {
        return new HttpProbe(GET, passing(Optional.of(Regex.of(regex))), false);
    }

    static HttpProbe inHttp2(HttpProbe probe) {
        return new HttpProbe(probe.request(), probe.expected(), true);
    }

    static HttpProbe at(String path, HttpProbe probe) {
        HttpProbe.Request to = new HttpProbe.Request("GET", path, Optional.of("web.internal"), List.of());
        return new HttpProbe(to, probe.expected(), probe.http2());
    }

    static HttpProbe.Expected passing(Optional<Regex> body) {
        return new HttpProbe.Expected(List.of(new HttpProbe.Statuses(200, 399)), List.of(), body);
    }
}
