package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Endpoint;
import dev.tidegate.model.EndpointCell;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What each endpoint may keep. */
class FairSharesTest {
    private static Endpoint endpoint(int weight, int maxConnections) {
        return new Endpoint("e", weight, maxConnections, new EndpointCell("b", "127.0.0.1:1", 0, List.of()));
    }

    private static Endpoint endpoint(int weight) {
        return endpoint(weight, Integer.MAX_VALUE);
    }

    private static List<Long> shares(long connections, int maxSharePercent, Endpoint... endpoints) {
        Map<Endpoint, Long> shares = FairShares.of(List.of(endpoints), connections, maxSharePercent);
        return List.of(endpoints).stream().map(shares::get).toList();
    }

    @Test
    void aShareIsByWeight() {
        assertEquals(List.of(750L, 250L), shares(1_000, 100, endpoint(3), endpoint(1)));
        assertEquals(List.of(825L, 275L), shares(1_000, 110, endpoint(3), endpoint(1)));
    }

    @Test
    void fewAreSpreadEvenlyTooAndNoShareIsTakenTwice() {
        assertEquals(List.of(4L, 4L), shares(8, 110, endpoint(1), endpoint(1)));
        assertEquals(List.of(4L, 4L), shares(7, 110, endpoint(1), endpoint(1)));
        assertEquals(List.of(0L, 0L), shares(0, 110, endpoint(1), endpoint(1)));
        assertEquals(List.of(), shares(5, 110));
    }

    @Test
    void whatOneHasNoRoomForTheOthersShare() {
        assertEquals(List.of(10L, 45L, 45L), shares(100, 100, endpoint(1, 10), endpoint(1), endpoint(1)));
        // Once the first is full, the second is, too.
        assertEquals(List.of(10L, 40L, 50L), shares(100, 100, endpoint(1, 10), endpoint(1, 40), endpoint(1)));
        assertEquals(List.of(10L, 10L), shares(100, 110, endpoint(1, 10), endpoint(1, 10)));
    }

    @Test
    void thereIsAlwaysRoomForAllThatFit() {
        Random random = new Random(5);
        for (int i = 0; i < 2_000; i++) {
            List<Endpoint> endpoints = new ArrayList<>();
            long room = 0;
            for (int n = 0; n <= random.nextInt(8); n++) {
                int max = random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(1_000);
                endpoints.add(endpoint(1 + random.nextInt(1_000), max));
                room += max;
            }
            long connections = (long) random.nextInt(20_000_000) >>> random.nextInt(24);
            Map<Endpoint, Long> shares = FairShares.of(endpoints, connections, 100 + random.nextInt(901));
            long sum = shares.values().stream().mapToLong(Long::longValue).sum();
            assertTrue(sum >= Math.min(room, connections), () -> shares + " for " + connections);
            assertTrue(shares.values().stream().allMatch(share -> share >= 0), shares::toString);
        }
    }
}
