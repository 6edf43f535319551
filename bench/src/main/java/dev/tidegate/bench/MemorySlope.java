package dev.tidegate.bench;

import java.util.List;

/**
 * How the memory of a proxy grows with idle connections: the least-squares line through some readings. Immutable.
 *
 * @param bytesPerConnection the slope
 * @param determination R²: 1 when all readings are on the line
 */
record MemorySlope(String subject, List<Reading> readings, double bytesPerConnection, double determination) {
    /** Anonymous resident bytes while so many connections were held. */
    record Reading(int connections, long bytes) {}

    static MemorySlope through(String subject, List<Reading> readings) {
        double meanX =
                readings.stream().mapToInt(Reading::connections).average().orElse(Double.NaN);
        double meanY = readings.stream().mapToLong(Reading::bytes).average().orElse(Double.NaN);
        double sumXy = 0;
        double sumXx = 0;
        double sumYy = 0;
        for (Reading reading : readings) {
            double x = reading.connections() - meanX;
            double y = reading.bytes() - meanY;
            sumXy += x * y;
            sumXx += x * x;
            sumYy += y * y;
        }
        return new MemorySlope(subject, List.copyOf(readings), sumXy / sumXx, sumXy * sumXy / (sumXx * sumYy));
    }
}
