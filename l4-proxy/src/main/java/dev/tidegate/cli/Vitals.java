package dev.tidegate.cli;

import dev.tidegate.control.Proxy;
import dev.tidegate.model.Backend;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.Fitness;
import dev.tidegate.model.Fitness.Unfit;
import java.util.concurrent.CompletableFuture;

/** What there is to tell of a running proxy in one line. Any thread. */
interface Vitals {
    /** Listening sockets. */
    int listeners();

    /** Endpoints of all backends. */
    int endpoints();

    /** Those that checks have nothing against, or that nobody checks. */
    int endpointsUp();

    /** Open connections of clients. */
    int connections();

    /** Is done when every endpoint that is checked has been checked once. */
    CompletableFuture<Void> firstChecks();

    /** Those of that proxy. */
    static Vitals of(Proxy proxy) {
        return new Vitals() {
            @Override
            public int listeners() {
                return proxy.listeners().size();
            }

            @Override
            public int endpoints() {
                int sum = 0;
                for (Backend backend : proxy.snapshot().backends()) {
                    sum += backend.endpoints().size();
                }
                return sum;
            }

            @Override
            public int endpointsUp() {
                int sum = 0;
                for (Backend backend : proxy.snapshot().backends()) {
                    for (Endpoint endpoint : backend.endpoints().all()) {
                        sum += up(endpoint) ? 1 : 0;
                    }
                }
                return sum;
            }

            private static boolean up(Endpoint endpoint) {
                Fitness fitness = endpoint.cell().fitness();
                return !fitness.unfit(Unfit.DOWN)
                        && !fitness.unfit(Unfit.NOT_READY)
                        && !fitness.unfit(Unfit.UNCHECKED)
                        && endpoint.cell().resolved();
            }

            @Override
            public int connections() {
                return proxy.connections().active();
            }

            @Override
            public CompletableFuture<Void> firstChecks() {
                return proxy.firstChecks();
            }
        };
    }
}
