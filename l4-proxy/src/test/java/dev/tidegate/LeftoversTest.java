package dev.tidegate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.LeftoversExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The check for what tests leave behind is found by JUnit for each test here, though none names it. */
class LeftoversTest {
    private boolean watched;

    @RegisterExtension
    final BeforeEachCallback look = context -> watched = LeftoversExtension.isWatching(context);

    @Test
    void everyTestOfTheModuleIsWatched() {
        assertTrue(watched);
    }
}
