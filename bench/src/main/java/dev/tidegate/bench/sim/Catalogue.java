package dev.tidegate.bench.sim;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** All experiments, by the names that the command takes, in the order of the documentation. */
final class Catalogue {
    static final Map<String, Experiment> ALL = all();

    private Catalogue() {}

    private static Map<String, Experiment> all() {
        Map<String, Experiment> all = new LinkedHashMap<>();
        all.put("four-policies", new FourPolicies());
        all.put("retries", new RetryExperiment());
        all.put("capacity", new CapacityExperiment());
        all.put("queues", new QueueLiterature());
        all.put("balls", new BallsInBins());
        all.put("stale", new StaleLoads());
        all.put("hashing", new Hashing());
        all.put("jitter", new Jitter());
        all.put("joining", new Joining());
        all.put("fan-out", new FanOut());
        all.put("sticky", new StickyClients());
        all.put("scale-out", new ScaleOut());
        all.put("heavy-lives", new HeavyLives());
        all.put("herd", new Herd());
        all.put("outage", new Outage());
        all.put("own-picker", new OwnPicker());
        return Collections.unmodifiableMap(all);
    }
}
