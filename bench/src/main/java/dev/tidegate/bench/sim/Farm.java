package dev.tidegate.bench.sim;

import dev.tidegate.model.Picker;
import java.util.Arrays;
import java.util.function.BiFunction;
import java.util.function.IntFunction;

/**
 * Jobs come at random (Poisson), are given to servers by one balancer or by several that do not see each other, and leave
 * when they are done.
 *
 * <p>Confined to one thread; one run.
 */
final class Farm implements Server.Listener {
    private static final int ARRIVALS = 1;
    private static final int WORK = 2;
    private static final int SPREAD = 3;
    private static final int PICKS = 100; // and one more for each balancer

    /**
     * What is run.
     *
     * @param servers how many
     * @param balancers how many; each job comes to one of them by chance
     * @param arrivalsPerSecond to all together
     * @param work what jobs ask for
     * @param picker makes the picker of each balancer
     * @param sharing whether servers work on all jobs at once rather than on one at a time
     * @param warmUp jobs that come before anything is counted
     * @param jobs jobs that are counted
     * @param staleNanos how old what a balancer knows of the servers may be; 0: it knows what it has given
     *     itself, and nothing else, at once
     * @param keepWaits whether every wait is kept, for quantiles
     */
    record Plan(
            int servers,
            int balancers,
            double arrivalsPerSecond,
            Work work,
            IntFunction<Picker> picker,
            boolean sharing,
            long warmUp,
            long jobs,
            long staleNanos,
            boolean keepWaits) {
        /** One balancer, servers that take one job at a time, and only means are kept. */
        static Plan of(int servers, double arrivalsPerSecond, Work work, IntFunction<Picker> picker, long jobs) {
            return new Plan(servers, 1, arrivalsPerSecond, work, picker, false, jobs / 10, jobs, 0, false);
        }

        Plan withBalancers(int count) {
            return new Plan(
                    servers, count, arrivalsPerSecond, work, picker, sharing, warmUp, jobs, staleNanos, keepWaits);
        }

        Plan withSharing() {
            return new Plan(
                    servers, balancers, arrivalsPerSecond, work, picker, true, warmUp, jobs, staleNanos, keepWaits);
        }

        Plan withWarmUp(long count) {
            return new Plan(
                    servers, balancers, arrivalsPerSecond, work, picker, sharing, count, jobs, staleNanos, keepWaits);
        }

        Plan withStaleNanos(long nanos) {
            return new Plan(
                    servers, balancers, arrivalsPerSecond, work, picker, sharing, warmUp, jobs, nanos, keepWaits);
        }

        Plan withWaits() {
            return new Plan(
                    servers, balancers, arrivalsPerSecond, work, picker, sharing, warmUp, jobs, staleNanos, true);
        }
    }

    private final Plan plan;
    private final Timeline timeline = new Timeline();
    private final Chance arrivals;
    private final Chance works;
    private final Chance spread;
    private final Balancer[] balancers;
    private final Server[] servers;
    private final Books books;
    private long arrived;

    private Farm(Plan plan, long seed) {
        this.plan = plan;
        arrivals = new Chance(seed, ARRIVALS);
        works = new Chance(seed, WORK);
        spread = new Chance(seed, SPREAD);
        books = new Books(plan, timeline);
        BiFunction<Timeline, Server.Listener, Server> maker = plan.sharing() ? SharingServer::new : QueueServer::new;
        servers = new Server[plan.servers()];
        Arrays.setAll(servers, i -> maker.apply(timeline, this));
        balancers = new Balancer[plan.balancers()];
        Arrays.setAll(
                balancers, i -> new Balancer(plan.servers(), plan.picker().apply(i), new Chance(seed, PICKS + i)));
    }

    /** Runs it. */
    static Outcome run(Plan plan, long seed) {
        return new Farm(plan, seed).run();
    }

    private Outcome run() {
        if (plan.staleNanos() > 0) {
            timeline.at(0, this::lookAtServers);
        }
        timeline.after(nextArrivalNanos(), this::arrive);
        timeline.run();
        return books.outcome();
    }

    private long nextArrivalNanos() {
        return Math.round(arrivals.exponential(Work.SECOND / plan.arrivalsPerSecond()));
    }

    private void arrive() {
        long now = timeline.nanoTime();
        boolean counted = arrived >= plan.warmUp();
        if (counted) {
            books.onArrival(servers[(int) (arrived % servers.length)].jobs());
        }
        arrived++;
        Balancer balancer = balancers.length == 1 ? balancers[0] : balancers[(int) spread.nextLong(balancers.length)];
        int endpoint = balancer.give(now);
        if (plan.staleNanos() > 0) {
            balancer.done(endpoint, now, now); // it is told of its own jobs when it is told of all
        }
        books.onMore(1);
        servers[endpoint].accept(new Job(now, plan.work().nanos(works), balancer, endpoint));
        if (arrived < plan.warmUp() + plan.jobs()) {
            timeline.after(nextArrivalNanos(), this::arrive);
        } else {
            books.onLastArrival();
            if (plan.staleNanos() > 0) {
                timeline.stop();
            }
        }
    }

    @Override
    public void onDone(Job job) {
        books.onMore(-1);
        if (plan.staleNanos() == 0) {
            job.via.done(job.endpoint, job.arrivedNanos, timeline.nanoTime());
        }
        books.onDone(job);
    }

    /** Every balancer is told what each server has now, and hears no more until the next time. */
    private void lookAtServers() {
        for (Balancer balancer : balancers) {
            for (int i = 0; i < servers.length; i++) {
                balancer.believe(i, servers[i].jobs());
            }
        }
        timeline.after(plan.staleNanos(), this::lookAtServers);
    }
}
