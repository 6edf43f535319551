package dev.tidegate.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.EndpointCell.Closed;
import dev.tidegate.model.Fitness.Unfit;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class EndpointTest {
    private final EndpointCell cell = cell("e");
    private final BackendCell backend = new BackendCell("back", 0);

    @ParameterizedTest
    @CsvSource({
        "100, 1000, 100",
        "100, 999, 99",
        "100, 500, 50",
        "100, 10, 1",
        "100, 1, 1",
        "1, 1000, 1",
        "1, 1, 1",
        "2147483646, 500, 1073741823",
        "2147483647, 1, 2147483647"
    })
    void duringASlowStartTheLimitGrowsWithTheShareAndIsAtLeastOne(int maxConnections, int share, int limit) {
        cell.fitness().share(share);

        assertEquals(limit, endpoint(1, maxConnections).limit());
    }

    @Test
    void duringASlowStartNoMoreConnectionsAreCountedThanTheLimitNow() {
        Endpoint endpoint = endpoint(1, 10);
        cell.fitness().share(200);
        assertTrue(endpoint.tryAcquire());
        assertTrue(endpoint.tryAcquire());
        assertFalse(endpoint.hasRoom());
        assertFalse(endpoint.tryAcquire());

        cell.fitness().share(300);

        assertTrue(endpoint.hasRoom());
        assertTrue(endpoint.tryAcquire());
        assertFalse(endpoint.tryAcquire());
    }

    @Test
    void theEffectiveWeightIsItsShareOfTheWeight() {
        cell.fitness().share(10);
        assertEquals(10, endpoint(1, 1).effectiveWeight());
        assertEquals(10_000, endpoint(1_000, 1).effectiveWeight());
        cell.fitness().share(Fitness.FULL_SHARE);
        assertEquals(1_000_000, endpoint(1_000, 1).effectiveWeight());
    }

    @ParameterizedTest
    @EnumSource
    void whatIsUnfitIsACandidateOnlyWhileItsBackendSpreads(Unfit why) {
        EndpointList list = new EndpointList(List.of(endpoint(1, 10)), backend);
        assertTrue(list.candidate(0));
        cell.fitness().set(why, true);
        assertFalse(list.candidate(0));
        assertFalse(list.at(0).pickable());

        backend.panic(true, false);
        assertFalse(list.candidate(0), "it refuses");
        backend.panic(true, true);
        assertTrue(list.candidate(0));
        assertFalse(list.at(0).pickable());
        backend.panic(false, false);
        assertFalse(list.candidate(0));
    }

    @Test
    void anEndpointWhoseTrialsAreAllUnderWayIsNoCandidateUnlessItsBackendSpreads() {
        EndpointList list = new EndpointList(List.of(endpoint(1, 10)), backend);
        cell.fitness().beginTrials(1);
        assertTrue(list.candidate(0));
        cell.fitness().tryTrial();
        assertFalse(list.candidate(0));

        backend.panic(false, true);

        assertTrue(list.candidate(0));
    }

    @ParameterizedTest
    @EnumSource
    void whatTakesNoConnectionsIsNeverACandidate(Closed why) {
        EndpointList list = new EndpointList(List.of(endpoint(1, 10)), backend);
        backend.panic(true, true);

        cell.close(why, true);

        assertFalse(list.candidate(0));
    }

    @Test
    void weightlessFullAndUnresolvedOnesAreNeverCandidates() {
        backend.panic(true, true);
        assertFalse(new EndpointList(List.of(endpoint(0, 10)), backend).candidate(0), "weight 0");
        Endpoint full = endpoint(1, 1);
        assertTrue(full.tryAcquire());
        assertFalse(new EndpointList(List.of(full), backend).candidate(0), "full");
        full.cell().release();
        cell.resolve(List.of());

        assertFalse(new EndpointList(List.of(full), backend).candidate(0), "unresolved");
    }

    private Endpoint endpoint(int weight, int maxConnections) {
        return new Endpoint("e", weight, maxConnections, cell);
    }

    private static EndpointCell cell(String address) {
        return new EndpointCell(
                "back", address, 0, List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 80)));
    }
}
