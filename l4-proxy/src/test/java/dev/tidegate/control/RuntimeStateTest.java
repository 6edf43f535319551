package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.BackendConfig;
import dev.tidegate.config.Config;
import dev.tidegate.config.EndpointAddress;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.LogConfig.Level;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What operators changed, beside a file that changes too. */
class RuntimeStateTest {
    private static final long SEED = 7;

    private static final EndpointId A = new EndpointId("web", "10.0.0.1:80");
    private static final EndpointId B = new EndpointId("web", "10.0.0.2:80");
    private static final EndpointId X = new EndpointId("web", "10.0.0.9:80");

    private static final Config FILE = new TestConfig()
            .endpoint("web", "a", A.address(), 1)
            .endpoint("web", "b", B.address(), 1)
            .endpoint("db", "a", "10.0.1.1:5432", 1)
            .config();

    /** The same with A's weight changed. */
    private static final Config HEAVIER = new TestConfig()
            .endpoint("web", "a", A.address(), 3)
            .endpoint("web", "b", B.address(), 1)
            .endpoint("db", "a", "10.0.1.1:5432", 1)
            .config();

    /** The same without A. */
    private static final Config WITHOUT_A = new TestConfig()
            .endpoint("web", "b", B.address(), 1)
            .endpoint("db", "a", "10.0.1.1:5432", 1)
            .config();

    private static EndpointConfig endpoint(String name, EndpointId id, int weight) {
        return new EndpointConfig(name, EndpointAddress.parse(id.address()), weight, OptionalInt.empty());
    }

    private static BackendConfig web(Config config) {
        return config.backends().stream()
                .filter(backend -> backend.name().equals("web"))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> names(RuntimeState state, Config config) {
        return state.endpoints(web(config)).stream().map(EndpointConfig::name).toList();
    }

    // ---- changes

    @Test
    void takingBackEveryChangeLeavesNothing() {
        RuntimeState state = RuntimeState.EMPTY
                .withDraining(A, true)
                .withDisabled(A, true)
                .withWeight(A, 5, 1)
                .withBackendDraining("web", true)
                .withFrontendDraining("edge", true)
                .withLogLevel(Level.DEBUG, Level.INFO)
                .withAdded("web", endpoint("x", X, 1));
        assertFalse(state.isEmpty());
        assertTrue(state.withDraining(A, false)
                .withDisabled(A, false)
                .withWeight(A, 1, 1)
                .withBackendDraining("web", false)
                .withFrontendDraining("edge", false)
                .withLogLevel(Level.INFO, Level.INFO)
                .withRemoved(X)
                .isEmpty());
    }

    @Test
    void eachChangeOfAnEndpointLeavesTheOthersAlone() {
        RuntimeState state =
                RuntimeState.EMPTY.withDraining(A, true).withWeight(A, 0, 1).withDisabled(B, true);
        assertEquals(
                new RuntimeState.Changed(true, false, Optional.of(new RuntimeState.Weight(0, 1))), state.endpoint(A));
        assertEquals(new RuntimeState.Changed(false, true, Optional.empty()), state.endpoint(B));
        assertEquals(RuntimeState.Changed.NONE, state.endpoint(X));
        assertTrue(state.withDisabled(A, true).endpoint(A).draining());
        assertTrue(state.withDraining(A, false).endpoint(A).weight().isPresent());
    }

    @Test
    void aStateIsNotChangedByWhatIsMadeOfIt() {
        RuntimeState state = RuntimeState.EMPTY.withDraining(A, true);
        RuntimeState other = state.withDraining(A, false).withRemoved(B).withBackendDraining("db", true);
        assertEquals(RuntimeState.EMPTY.withDraining(A, true), state);
        assertFalse(other.endpoint(A).draining());
        assertThrows(
                UnsupportedOperationException.class, () -> state.endpoints().clear());
        assertThrows(UnsupportedOperationException.class, () -> other.removed().clear());
    }

    @Test
    void endpointsAreTheFilesWithoutThoseRemovedAndWithThoseAdded() {
        assertEquals(List.of("a", "b"), names(RuntimeState.EMPTY, FILE));
        RuntimeState state = RuntimeState.EMPTY.withRemoved(A).withAdded("web", endpoint("x", X, 2));
        assertEquals(List.of("b", "x"), names(state, FILE));
        assertEquals(List.of("b"), names(state.withRemoved(X), FILE));
        assertEquals(List.of("a", "b", "x"), names(state.withRestored(A), FILE));
    }

    @Test
    void aRemovedEndpointForgetsWhatWasChangedOfIt() {
        RuntimeState drained = RuntimeState.EMPTY.withDraining(A, true).withWeight(A, 4, 1);
        assertEquals(RuntimeState.EMPTY.withRemoved(A), drained.withRemoved(A));
        assertTrue(drained.withRemoved(A).withRestored(A).isEmpty());
    }

    @Test
    void anAddressThatWasRemovedCanBeAddedAndRemovedAgain() {
        RuntimeState state = RuntimeState.EMPTY.withRemoved(A).withAdded("web", endpoint("a2", A, 7));
        assertEquals(List.of("b", "a2"), names(state, FILE));
        assertEquals(state, state.reconcile(FILE));
        assertEquals(List.of("b"), names(state.withRemoved(A), FILE));
        assertEquals(RuntimeState.EMPTY.withRemoved(A), state.withRemoved(A));
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new EndpointId("web", "10.0.0.1"));
        assertThrows(IllegalArgumentException.class, () -> new EndpointId("web", "DB:80"));
        assertThrows(IllegalArgumentException.class, () -> new EndpointId("", "10.0.0.1:80"));
        assertThrows(IllegalArgumentException.class, () -> RuntimeState.EMPTY.withWeight(A, 1_001, 1));
        assertThrows(IllegalArgumentException.class, () -> RuntimeState.EMPTY.withWeight(A, -1, 1));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RuntimeState(
                        Map.of(), Map.of(A, endpoint("x", X, 1)), Set.of(), Set.of(), Set.of(), Optional.empty()));
    }

    // ---- a configuration that changes

    @Test
    void anUnchangedFileUndoesNothing() {
        RuntimeState state = RuntimeState.EMPTY
                .withDraining(A, true)
                .withDisabled(B, true)
                .withWeight(B, 0, 1)
                .withAdded("web", endpoint("x", X, 1))
                .withWeight(X, 9, 1)
                .withBackendDraining("db", true)
                .withFrontendDraining("edge", true)
                .withLogLevel(Level.TRACE, Level.INFO);
        assertEquals(state, state.reconcile(FILE));
    }

    @Test
    void aWeightStandsUntilTheConfiguredOneChanges() {
        RuntimeState state = RuntimeState.EMPTY.withWeight(A, 5, 1).withDraining(A, true);
        assertEquals(RuntimeState.EMPTY.withDraining(A, true), state.reconcile(HEAVIER));
        assertEquals(state, state.reconcile(FILE));
        RuntimeState other = RuntimeState.EMPTY.withWeight(B, 5, 1);
        assertEquals(other, other.reconcile(HEAVIER), "another endpoint's weight is no concern of it");
    }

    @Test
    void aLogLevelStandsUntilTheConfiguredOneChanges() {
        RuntimeState state = RuntimeState.EMPTY.withLogLevel(Level.DEBUG, Level.INFO);
        assertEquals(state, state.reconcile(HEAVIER));
        Config warn = new TestConfig()
                .level(Level.WARN)
                .endpoint("web", "a", A.address(), 1)
                .config();
        assertTrue(state.reconcile(warn).isEmpty());
    }

    @Test
    void aRenamedEndpointKeepsWhatWasChangedOfIt() {
        Config renamed = new TestConfig()
                .endpoint("web", "alpha", A.address(), 1)
                .endpoint("web", "b", B.address(), 1)
                .config();
        RuntimeState state = RuntimeState.EMPTY.withDraining(A, true).withWeight(A, 5, 1);
        assertEquals(state, state.reconcile(renamed));
    }

    @Test
    void theSameAddressInAnotherBackendIsAnotherEndpoint() {
        Config moved = new TestConfig()
                .endpoint("web", "b", B.address(), 1)
                .endpoint("db", "a", A.address(), 1)
                .config();
        assertTrue(RuntimeState.EMPTY.withDraining(A, true).reconcile(moved).isEmpty());
    }

    @Test
    void whatIsAboutThingsThatAreGoneGoes() {
        RuntimeState state = RuntimeState.EMPTY
                .withDraining(A, true)
                .withDraining(B, true)
                .withBackendDraining("gone", true)
                .withBackendDraining("web", true)
                .withFrontendDraining("gone", true)
                .withFrontendDraining("edge", true)
                .withAdded("gone", endpoint("x", X, 1));
        assertEquals(
                RuntimeState.EMPTY
                        .withDraining(B, true)
                        .withBackendDraining("web", true)
                        .withFrontendDraining("edge", true),
                state.reconcile(WITHOUT_A));
    }

    @Test
    void aRemovedEndpointStaysRemovedWhileTheFileHasIt() {
        RuntimeState state = RuntimeState.EMPTY.withRemoved(A);
        assertEquals(state, state.reconcile(FILE));
        assertEquals(state, state.reconcile(HEAVIER), "another weight in the file does not bring it back");
        assertTrue(state.reconcile(WITHOUT_A).isEmpty());
        assertTrue(state.reconcile(WITHOUT_A).reconcile(FILE).isEmpty(), "put into the file anew, it is back");
    }

    @Test
    void anAddedEndpointYieldsToOneOfTheFileWithItsAddressOrName() {
        RuntimeState state =
                RuntimeState.EMPTY.withAdded("web", endpoint("x", X, 5)).withWeight(X, 9, 5);
        assertEquals(state, state.reconcile(FILE));
        Config address = new TestConfig()
                .endpoint("web", "a", A.address(), 1)
                .endpoint("web", "y", X.address(), 2)
                .config();
        assertTrue(state.reconcile(address).isEmpty(), "the weight was set over another configured one");
        Config name = new TestConfig()
                .endpoint("web", "a", A.address(), 1)
                .endpoint("web", "x", "10.0.0.77:80", 2)
                .config();
        assertTrue(state.reconcile(name).isEmpty());
        Config elsewhere = new TestConfig()
                .endpoint("web", "a", A.address(), 1)
                .endpoint("db", "x", X.address(), 2)
                .config();
        assertEquals(state, state.reconcile(elsewhere), "another backend's names and addresses are its own");
    }

    @Test
    void aDrainStandsOnAnAddedEndpointThatTheFileTakesOver() {
        RuntimeState state =
                RuntimeState.EMPTY.withAdded("web", endpoint("x", X, 5)).withDraining(X, true);
        Config takenOver = new TestConfig()
                .endpoint("web", "a", A.address(), 1)
                .endpoint("web", "x", X.address(), 5)
                .config();
        assertEquals(RuntimeState.EMPTY.withDraining(X, true), state.reconcile(takenOver));
    }

    @Test
    void theNameOfARemovedEndpointIsFreeForAnAddedOneUntilTheRemovalEnds() {
        RuntimeState state = RuntimeState.EMPTY.withRemoved(A).withAdded("web", endpoint("a", X, 1));
        assertEquals(state, state.reconcile(FILE));
        assertEquals(List.of("b", "a"), names(state, FILE));
        assertEquals(List.of("b", "a"), names(state.reconcile(WITHOUT_A), WITHOUT_A));
    }

    @Test
    void ofTwoAddedEndpointsWithOneNameOneStays() {
        EndpointId other = new EndpointId("web", "10.0.0.8:80");
        RuntimeState state =
                RuntimeState.EMPTY.withAdded("web", endpoint("x", X, 1)).withAdded("web", endpoint("x", other, 1));
        assertEquals(Set.of(other), state.reconcile(FILE).added().keySet());
    }

    /** Operators and files by chance, as they may follow each other in a process and over restarts. */
    @Test
    void whateverOperatorsAndFilesDoTheStateFitsTheFile() {
        Random random = new Random(SEED);
        int dropped = 0;
        for (int walk = 0; walk < 30; walk++) {
            Config config = anyConfig(random);
            RuntimeState state = RuntimeState.EMPTY;
            for (int step = 0; step < 50; step++) {
                String where = "walk " + walk + ", step " + step + " of seed " + SEED;
                if (random.nextInt(5) == 0) {
                    config = anyConfig(random);
                    RuntimeState before = state;
                    state = state.reconcile(config);
                    dropped += before.equals(state) ? 0 : 1;
                } else {
                    state = anyOperation(state, config, random);
                }
                assertEquals(state, state.reconcile(config), where + ": an unchanged file dropped something");
                assertFits(state, config, where);
            }
        }
        assertTrue(dropped > 75, "files that dropped something: " + dropped);
    }

    private static void assertFits(RuntimeState state, Config config, String where) {
        for (BackendConfig backend : config.backends()) {
            Set<String> names = new HashSet<>();
            Set<String> addresses = new HashSet<>();
            for (EndpointConfig endpoint : state.endpoints(backend)) {
                assertTrue(names.add(endpoint.name()), where + ": a name twice");
                assertTrue(addresses.add(endpoint.address().toString()), where + ": an address twice");
            }
            state.endpoints().keySet().stream()
                    .filter(id -> id.backend().equals(backend.name()))
                    .forEach(id -> assertTrue(addresses.contains(id.address()), where + ": nothing there for " + id));
        }
        Set<String> backends = new HashSet<>();
        config.backends().forEach(backend -> backends.add(backend.name()));
        assertTrue(backends.containsAll(state.drainingBackends()), where);
        state.endpoints().keySet().forEach(id -> assertTrue(backends.contains(id.backend()), where));
        state.added().keySet().forEach(id -> assertTrue(backends.contains(id.backend()), where));
        state.removed().forEach(id -> assertTrue(backends.contains(id.backend()), where));
    }

    private static Config anyConfig(Random random) {
        TestConfig made = new TestConfig().level(Level.values()[random.nextInt(2)]);
        for (String backend : List.of("web", "db")) {
            if (backend.equals("web") || random.nextBoolean()) {
                made.endpoint(backend, "always", "10.0.9.9:1", 1);
                for (int i = 0; i < 4; i++) {
                    if (random.nextBoolean()) {
                        made.endpoint(backend, "e" + (i ^ random.nextInt(2) * 4), address(i), random.nextInt(3));
                    }
                }
            }
        }
        return made.config();
    }

    private static String address(int number) {
        return "10.0.0." + number + ":80";
    }

    /** One that control would let through: it is about something that is there. */
    private static RuntimeState anyOperation(RuntimeState state, Config config, Random random) {
        BackendConfig backend =
                config.backends().get(random.nextInt(config.backends().size()));
        List<EndpointConfig> there = state.endpoints(backend);
        int operation = random.nextInt(8);
        if (operation == 0) {
            return state.withBackendDraining(backend.name(), random.nextBoolean());
        }
        if (operation == 1) {
            return state.withLogLevel(
                    Level.values()[random.nextInt(5)], config.log().level());
        }
        if (operation == 2) {
            EndpointId id = new EndpointId(backend.name(), address(random.nextInt(6)));
            String name = "n" + random.nextInt(6);
            boolean taken = there.stream()
                    .anyMatch(endpoint -> endpoint.name().equals(name)
                            || endpoint.address().toString().equals(id.address()));
            return taken ? state : state.withAdded(backend.name(), endpoint(name, id, random.nextInt(3)));
        }
        if (there.isEmpty()) {
            return state;
        }
        EndpointConfig endpoint = there.get(random.nextInt(there.size()));
        EndpointId id = EndpointId.of(backend.name(), endpoint.address());
        return switch (operation) {
            case 3 -> state.withDisabled(id, random.nextBoolean());
            case 4 -> state.withRemoved(id);
            case 5, 6 -> state.withWeight(id, random.nextInt(4), endpoint.weight());
            default -> state.withDraining(id, random.nextBoolean());
        };
    }
}
