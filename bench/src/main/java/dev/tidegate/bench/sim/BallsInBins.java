package dev.tidegate.bench.sim;

import dev.tidegate.model.EndpointList;
import java.util.Arrays;

/**
 * As many connections as endpoints, and none ends: row S9. Azar, Broder, Karlin and Upfal, "Balanced Allocations" (1994).
 */
final class BallsInBins implements Experiment {
    private static final int BINS = 1_000_000;

    @Override
    public Section run(Scale scale) {
        int bins = (int) scale.jobs(BINS);
        int one = fullest(Choice.RANDOM, bins);
        int two = fullest(Choice.POWER_OF_TWO, bins);
        return new Section()
                .add(new Figure(
                        "S9",
                        "%,d connections on as many endpoints, random: the fullest has".formatted(bins),
                        "8–10",
                        Integer.toString(one),
                        "band",
                        one >= 8 && one <= 10))
                .add(Figure.exactly("S9", "the same, power-of-two", 4, two));
    }

    private static int fullest(Choice choice, int bins) {
        EndpointList endpoints = Balancer.list(bins);
        Balancer balancer = new Balancer(endpoints, choice.picker().apply(0), new Chance(1, 1));
        int[] counts = new int[bins];
        for (int i = 0; i < bins; i++) {
            counts[balancer.give(0)]++;
        }
        return Arrays.stream(counts).max().orElseThrow();
    }
}
