package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartingSignalsTest {
    private final List<String> done = new ArrayList<>();
    private final StartingSignals signals = new StartingSignals(() -> done.add("exit"));
    private final StartingSignals.Actions actions = new StartingSignals.Actions(
            () -> done.add("term"),
            () -> done.add("interrupt"),
            () -> done.add("hang up"),
            () -> done.add("reopen"),
            () -> done.add("upgrade"));

    @Test
    void whileTheConfigurationIsReadRequestsToStopEndTheProcessAndOthersDoNothing() {
        signals.hangUp();
        signals.reopen();
        assertEquals(List.of(), done);

        signals.term();
        signals.interrupt();

        assertEquals(List.of("exit", "exit"), done);
    }

    @Test
    void requestsToStopOrReloadAreRememberedUntilTheProcessIsUpAndReopeningIsNot() {
        signals.starting(() -> {});
        signals.hangUp();
        signals.reopen();
        signals.term();
        signals.term();
        signals.interrupt();
        assertEquals(List.of(), done);

        signals.up(actions);

        assertEquals(List.of("hang up", "term", "term", "interrupt"), done);
    }

    @Test
    void eachIsCarriedOutOnceTheProcessIsUp() {
        signals.up(actions);

        signals.hangUp();
        signals.reopen();
        signals.term();
        signals.interrupt();

        assertEquals(List.of("hang up", "reopen", "term", "interrupt"), done);
    }
}
