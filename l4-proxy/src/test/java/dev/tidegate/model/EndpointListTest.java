package dev.tidegate.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class EndpointListTest {
    @Property
    void everyPointFallsIntoTheShareOfOneEndpointAndEachHasItsWeightInPoints(
            @ForAll @Size(min = 1, max = 20) List<@IntRange(max = 50) Integer> weights) {
        EndpointList list = of(weights);
        int[] points = new int[weights.size()];
        for (long point = 0; point < list.totalWeight(); point++) {
            points[list.indexOfShare(point)]++;
        }

        assertEquals(weights, IntStream.of(points).boxed().toList());
    }

    @Test
    void noEndpointsHaveNoWeight() {
        EndpointList empty = of(List.of());

        assertEquals(0, empty.size());
        assertEquals(0, empty.totalWeight());
    }

    @Test
    void equalWeightsAreNoticed() {
        assertTrue(of(List.of(3, 3, 3)).equalWeights());
        assertFalse(of(List.of(3, 3, 2)).equalWeights());
    }

    @Test
    void theGreatestWeightsOfManyEndpointsAddUpWithoutOverflow() {
        EndpointList list =
                of(IntStream.range(0, 10_000).mapToObj(i -> Endpoint.MAX_WEIGHT).toList());

        assertEquals(10_000_000L, list.totalWeight());
        assertEquals(9_999, list.indexOfShare(list.totalWeight() - 1));
    }

    private static EndpointList of(List<Integer> weights) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);
        return new EndpointList(IntStream.range(0, weights.size())
                .mapToObj(i -> new Endpoint(
                        "e" + i,
                        weights.get(i),
                        Integer.MAX_VALUE,
                        new EndpointCell("back", "e" + i, i, List.of(address))))
                .toList());
    }
}
