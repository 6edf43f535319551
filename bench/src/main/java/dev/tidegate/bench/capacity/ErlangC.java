package dev.tidegate.bench.capacity;

/**
 * One queue before several alike servers, each of which takes one job at a time: arrivals by chance (Poisson), service times
 * exponential. Erlang's second formula (1917), by way of the recursion of his first, which neither overflows nor loses
 * digits with thousands of servers.
 *
 * <p>Immutable. Any thread.
 *
 * @param servers at least 1
 * @param serviceSeconds the mean, above 0
 */
public record ErlangC(int servers, double serviceSeconds) {
    /** As near as a utilisation is sought. */
    private static final double PRECISION = 1e-12;

    private static final int MOST_SERVERS = 1_000_000;

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException if one is out of range
     */
    public ErlangC {
        if (servers < 1 || servers > MOST_SERVERS) {
            throw new IllegalArgumentException("servers " + servers + " is out of range (1.." + MOST_SERVERS + ")");
        }
        if (!(serviceSeconds > 0)) {
            throw new IllegalArgumentException("service time " + serviceSeconds + " s is not above 0");
        }
    }

    /**
     * The chance that a job has to wait.
     *
     * @param utilisation the part of all servers that is busy, 0 to below 1
     */
    public double waitingShare(double utilisation) {
        requireUtilisation(utilisation);
        double load = utilisation * servers;
        double lost = 1; // Erlang B: the chance that all are busy, if nobody waited
        for (int n = 1; n <= servers; n++) {
            lost = load * lost / (n + load * lost);
        }
        return lost / (1 - utilisation * (1 - lost));
    }

    /**
     * The mean time in the queue, over all jobs, those that do not wait among them; in seconds.
     *
     * @param utilisation the part of all servers that is busy, 0 to below 1
     */
    public double queueingSeconds(double utilisation) {
        return waitingShare(utilisation) * serviceSeconds / (servers * (1 - utilisation));
    }

    /**
     * The queueing that a share of all jobs stays within; in seconds.
     *
     * @param utilisation the part of all servers that is busy, 0 to below 1
     * @param share of all jobs, 0 to below 1
     */
    public double queueingSeconds(double utilisation, double share) {
        double waiting = waitingShare(utilisation);
        double drain = servers * (1 - utilisation) / serviceSeconds;
        return waiting <= 1 - share ? 0 : Math.log(waiting / (1 - share)) / drain;
    }

    /**
     * The highest utilisation at which the mean queueing is no longer than that.
     *
     * @param queueingSeconds not negative
     */
    public double utilisationFor(double queueingSeconds) {
        double low = 0;
        double high = 1;
        while (high - low > PRECISION) {
            double middle = (low + high) / 2;
            if (queueingSeconds(middle) <= queueingSeconds) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * The fewest servers that bear a load with a mean queueing no longer than that.
     *
     * @param perSecond jobs that come
     * @param serviceSeconds the mean
     * @param queueingSeconds above 0
     * @throws IllegalArgumentException if more than a million would be needed, or a value is out of range
     */
    public static int serversFor(double perSecond, double serviceSeconds, double queueingSeconds) {
        if (!(perSecond > 0)) {
            throw new IllegalArgumentException("rate " + perSecond + " a second is not above 0");
        }
        double load = perSecond * serviceSeconds;
        double lost = 1;
        for (int n = 1; n <= MOST_SERVERS; n++) {
            lost = load * lost / (n + load * lost);
            double utilisation = load / n;
            if (utilisation < 1) {
                double waiting = lost / (1 - utilisation * (1 - lost));
                if (waiting * serviceSeconds / (n * (1 - utilisation)) <= queueingSeconds) {
                    return n;
                }
            }
        }
        throw new IllegalArgumentException("more than " + MOST_SERVERS + " servers would be needed for " + perSecond
                + " jobs a second of " + serviceSeconds + " s");
    }

    private static void requireUtilisation(double utilisation) {
        if (!(utilisation >= 0 && utilisation < 1)) {
            throw new IllegalArgumentException(
                    "utilisation " + utilisation + " is out of range (0 to below 1): at 1 the queue grows for ever");
        }
    }
}
