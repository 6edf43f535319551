package dev.tidegate.bench.sim;

import java.util.Arrays;

/**
 * Consistent hashing: rows S11 to S13, on a table of our own, as no policy hashes yet. Bounded loads: Mirrokni, Thorup and
 * Zadimoghaddam, "Consistent Hashing with Bounded Loads" (2016): who is full passes on to the next slot.
 */
final class Hashing implements Experiment {
    private static final int SIZE = 65_537;
    private static final int RUNS = 5;
    private static final double POINTS = 0.003;

    @Override
    public Section run(Scale scale) {
        Section section = new Section();
        int[] backends = {10, 100, 1000};
        for (int count : backends) {
            int[] slots = new MaglevTable(SIZE, all(count)).counts(count);
            int least = Arrays.stream(slots).min().orElseThrow();
            int most = Arrays.stream(slots).max().orElseThrow();
            section.add(Figure.exactly(
                            "S11", "N = %d: fewest slots of one, ⌊M/N⌋".formatted(count), SIZE / count, least))
                    .add(Figure.exactly("S11", "N = %d: most slots, ⌈M/N⌉".formatted(count), SIZE / count + 1, most));
        }
        disruption(section, 100, new int[] {1, 5, 10}, new double[] {0.0155, 0.059, 0.111});
        disruption(section, 1000, new int[] {1, 10, 50}, new double[] {0.0065, 0.033, 0.083});
        bounded(section, scale);
        return section;
    }

    private static boolean[] all(int count) {
        boolean[] members = new boolean[count];
        Arrays.fill(members, true);
        return members;
    }

    private static void disruption(Section section, int count, int[] gone, double[] expected) {
        MaglevTable whole = new MaglevTable(SIZE, all(count));
        for (int i = 0; i < gone.length; i++) {
            double sum = 0;
            for (int run = 0; run < RUNS; run++) {
                boolean[] members = all(count);
                Chance chance = new Chance(run, 2);
                for (int left = gone[i]; left > 0; ) {
                    int one = chance.nextInt(count);
                    left -= members[one] ? 1 : 0;
                    members[one] = false;
                }
                sum += whole.changed(new MaglevTable(SIZE, members));
            }
            double changed = sum / RUNS;
            section.add(new Figure(
                    "S12",
                    "%d of %d go (ideal %s): slots that change"
                            .formatted(gone[i], count, Figure.percent((double) gone[i] / count)),
                    Figure.percent(expected[i]),
                    "%.2f %%".formatted(changed * 100),
                    "±0.3 points",
                    Math.abs(changed - expected[i]) <= POINTS));
        }
    }

    /** Keys by Zipf's law, each with as many connections as it is popular; loads with a cap of ⌈1.25 m/n⌉, and without. */
    private static void bounded(Section section, Scale scale) {
        int backends = 100;
        int keys = 10_000;
        int connections = (int) scale.jobs(100_000);
        MaglevTable table = new MaglevTable(SIZE, all(backends));
        double[] upTo = new double[keys];
        double sum = 0;
        for (int i = 0; i < keys; i++) {
            sum += 1.0 / (i + 1);
            upTo[i] = sum;
        }
        Chance chance = new Chance(1, 3);
        int[] free = new int[backends];
        int[] capped = new int[backends];
        boolean broken = false;
        for (int m = 1; m <= connections; m++) {
            int key = Arrays.binarySearch(upTo, chance.nextDouble() * sum);
            int slot = (int) new Chance(key < 0 ? -key - 1 : key, 4).nextLong(SIZE);
            free[table.at(slot)]++;
            int cap = (int) Math.ceil(1.25 * m / backends);
            while (capped[table.at(slot)] >= cap) {
                slot = (slot + 1) % SIZE;
            }
            broken |= ++capped[table.at(slot)] > cap;
        }
        double mean = (double) connections / backends;
        section.add(new Figure(
                        "S13",
                        "ε = 0.25, Zipf(1) keys, n = 100: cap of ⌈(1 + ε)m/n⌉ after each of %,d".formatted(connections),
                        "never broken",
                        broken ? "broken" : "never broken",
                        "hard",
                        !broken))
                .add(Figure.atMost("S13", "fullest / mean at the end", 1.26, max(capped) / mean))
                .add(Figure.atLeast("S13", "the same without a bound", 1.25, max(free) / mean));
    }

    private static double max(int[] counts) {
        return Arrays.stream(counts).max().orElseThrow();
    }
}
