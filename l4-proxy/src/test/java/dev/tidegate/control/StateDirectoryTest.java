package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where runtime state is kept. */
class StateDirectoryTest {
    private static final Map<String, String> ALL =
            Map.of("STATE_DIRECTORY", "/var/lib/a:/var/lib/b", "XDG_STATE_HOME", "/x", "HOME", "/home/u");

    private static StateDirectory of(Map<String, String> environment) {
        return StateDirectory.of(Optional.empty(), environment::get);
    }

    private static String path(Map<String, String> environment) {
        return of(environment).path().map(Path::toString).orElse("none");
    }

    @Test
    void theConfiguredOneIsFirst() {
        assertEquals(
                new StateDirectory(Optional.of(Path.of("here/state")), "process.state-dir"),
                StateDirectory.of(Optional.of("here/state"), ALL::get));
    }

    @Test
    void thenTheFirstThatTheServiceManagerGives() {
        assertEquals(new StateDirectory(Optional.of(Path.of("/var/lib/a")), "$STATE_DIRECTORY"), of(ALL));
        assertEquals("/var/lib/c", path(Map.of("STATE_DIRECTORY", "/var/lib/c")));
    }

    @Test
    void thenTheUsers() {
        assertEquals("/x/tidegate", path(Map.of("XDG_STATE_HOME", "/x", "HOME", "/home/u")));
        assertEquals("/home/u/.local/state/tidegate", path(Map.of("HOME", "/home/u")));
    }

    @Test
    void whatIsEmptyOrRelativeIsAsIfItWereNotSet() {
        assertEquals(
                "/home/u/.local/state/tidegate",
                path(Map.of("STATE_DIRECTORY", "", "XDG_STATE_HOME", "x", "HOME", "/home/u")));
        assertEquals("none", path(Map.of("XDG_STATE_HOME", "", "HOME", "u")));
    }

    @Test
    void withNothingSetThereIsNoneAndItSaysSo() {
        StateDirectory none = of(Map.of());
        assertEquals(Optional.empty(), none.path());
        assertTrue(none.why().contains("HOME"), none.why());
    }
}
