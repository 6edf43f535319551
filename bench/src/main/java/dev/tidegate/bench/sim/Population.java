package dev.tidegate.bench.sim;

import dev.tidegate.lifetime.Lifespan;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import dev.tidegate.model.FrontendCell;
import dev.tidegate.model.Lifetime;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.RetireOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.DoubleConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * Clients that keep one connection each, through one balancer: whenever it ends, they open another. A connection ends by
 * itself after its life, if it has one, or when the production {@link Lifespan} says that it may; its client then has been
 * told, as in HTTP/2, and asks for nothing more over it.
 *
 * <p>Confined to one thread; one run.
 */
final class Population {
    private static final int LIVES = 1;
    private static final int RATES = 2;
    private static final int DRAWS = 3;
    private static final int PICKS = 4;
    private static final int OPENINGS = 5;

    /**
     * What is run.
     *
     * @param clients how many
     * @param endpoints how many, those that join later included
     * @param choice how the balancer picks
     * @param life of a connection that nobody ends; null: for ever
     * @param lifetime what the frontend limits
     * @param rate requests a second of a client
     * @param openingSeconds over which they all come, evenly
     */
    record Plan(
            int clients,
            int endpoints,
            Choice choice,
            Work life,
            Lifetime lifetime,
            Work rate,
            double openingSeconds) {}

    private final class Client implements Happening {
        private final double rate;
        private Lifespan span; // null before the first connection
        private int endpoint;
        private long openedNanos;
        private long lifeEndsNanos;
        private long dueNanos;

        Client(double rate) {
            this.rate = rate;
        }

        void open() {
            long now = timeline.nanoTime();
            openedNanos = now;
            endpoint = balancer.give(now);
            rates[endpoint] += rate;
            span = new Lifespan(frontend, plan.lifetime(), now, 2 * draws.nextDouble() - 1);
            lifeEndsNanos = plan.life() == null
                    ? now + Lifespan.NEVER
                    : now + plan.life().nanos(lives);
            replan();
        }

        void replan() {
            dueNanos = Math.min(lifeEndsNanos, span.nextNanos(timeline.nanoTime()));
            timeline.at(dueNanos, this);
        }

        @Override
        public void happen() {
            long now = timeline.nanoTime();
            if (now != dueNanos) {
                return; // replanned
            }
            span.lookAtAge(now);
            if (now >= lifeEndsNanos) {
                end(CloseReason.CLIENT_CLOSED, null);
            } else if (span.retiring(now)) {
                retired++;
                end(span.reason(now), RetireHow.GOAWAY);
            } else {
                replan();
            }
        }

        private void end(CloseReason reason, RetireHow how) {
            span.ended(reason, how);
            rates[endpoint] -= rate;
            balancer.done(endpoint, openedNanos, timeline.nanoTime());
            reopened++;
            open();
        }
    }

    private final Plan plan;
    private final Timeline timeline = new Timeline();
    private final FrontendCell frontend = new FrontendCell("simulated", 0);
    private final Balancer balancer;
    private final Chance lives;
    private final Chance draws;
    private final List<Client> clients = new ArrayList<>();
    private final double[] rates;
    private long reopened;
    private long retired;

    Population(Plan plan, long seed) {
        this.plan = plan;
        balancer = new Balancer(plan.endpoints(), plan.choice().picker().apply(0), new Chance(seed, PICKS));
        lives = new Chance(seed, LIVES);
        draws = new Chance(seed, DRAWS);
        rates = new double[plan.endpoints()];
        Chance sizes = new Chance(seed, RATES);
        Chance openings = new Chance(seed, OPENINGS);
        for (int i = 0; i < plan.clients(); i++) {
            Client client = new Client(plan.rate().seconds(sizes));
            clients.add(client);
            timeline.at(Math.round(openings.nextDouble() * plan.openingSeconds() * Work.SECOND), client::open);
        }
    }

    Timeline timeline() {
        return timeline;
    }

    /** An endpoint takes connections, or none. */
    void takes(int endpoint, boolean connections) {
        cell(endpoint).close(EndpointCell.Closed.DISABLED, !connections);
    }

    int connections(int endpoint) {
        return cell(endpoint).inFlight();
    }

    private EndpointCell cell(int endpoint) {
        return balancer.endpoints().at(endpoint).cell();
    }

    /** The greatest of the endpoints that take connections over their mean, of connections. */
    double connectionImbalance() {
        return imbalance(openOnes().mapToDouble(this::connections).toArray());
    }

    /** The same of requests a second. */
    double rateImbalance() {
        return imbalance(openOnes().mapToDouble(i -> rates[i]).toArray());
    }

    double rate(int endpoint) {
        return rates[endpoint];
    }

    private IntStream openOnes() {
        return IntStream.range(0, plan.endpoints()).filter(i -> cell(i).open());
    }

    static double imbalance(double... values) {
        return Arrays.stream(values).max().orElseThrow()
                / Arrays.stream(values).average().orElseThrow();
    }

    /** Connections that were opened after another. */
    long reopened() {
        return reopened;
    }

    /** Connections that the balancer has ended. */
    long retired() {
        return retired;
    }

    /** Endpoints that take connections now. */
    List<Endpoint> taking() {
        return balancer.endpoints().all().stream().filter(Endpoint::sound).toList();
    }

    /**
     * Retires of each endpoint what it has above that, the oldest first.
     *
     * @param keeps how many an endpoint keeps
     * @param startSeconds draws when each begins, from now
     */
    void retire(RetireOrder order, ToLongFunction<Endpoint> keeps, Work startSeconds) {
        long now = timeline.nanoTime();
        for (Endpoint endpoint : taking()) {
            int index = endpoint.cell().slot();
            clients.stream()
                    .filter(client -> client.span != null && client.endpoint == index)
                    .sorted(Comparator.comparingLong(client -> client.openedNanos))
                    .limit(Math.max(0, connections(index) - keeps.applyAsLong(endpoint)))
                    .forEach(client -> {
                        client.span.retire(order, now + startSeconds.nanos(draws), now + Lifespan.NEVER, now);
                        client.replan();
                    });
        }
    }

    /** Looks every so often, from then on. */
    void every(double seconds, double fromSeconds, DoubleConsumer look) {
        timeline.at(Math.round(fromSeconds * Work.SECOND), new Happening() {
            @Override
            public void happen() {
                look.accept(timeline.nanoTime() / Work.SECOND);
                timeline.after(Math.round(seconds * Work.SECOND), this);
            }
        });
    }

    void at(double seconds, Happening what) {
        timeline.at(Math.round(seconds * Work.SECOND), what);
    }

    void runUntil(double seconds) {
        timeline.runUntil(Math.round(seconds * Work.SECOND));
    }
}
