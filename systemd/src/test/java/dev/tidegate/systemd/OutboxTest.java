package dev.tidegate.systemd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.systemd.Outbox.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxTest {
    private final FakeWire wire = new FakeWire();
    private final Outbox outbox = new Outbox(wire);

    private static final class FakeWire implements Wire {
        final List<String> sent = new ArrayList<>();
        int room;
        boolean gone;

        @Override
        public boolean trySend(String message) throws IOException {
            if (gone) {
                throw new IOException("nobody listens");
            }
            if (room == 0) {
                return false;
            }
            room--;
            sent.add(message);
            return true;
        }

        @Override
        public void close() {
            gone = true;
        }
    }

    @Test
    void whatComesAgainAndAgainWaitsOnlyOnce() {
        outbox.add(Kind.STATUS, "1 connection");
        outbox.add(Kind.WATCHDOG, "alive");
        outbox.add(Kind.STATE, "ready");
        outbox.add(Kind.STATUS, "2 connections");
        outbox.add(Kind.WATCHDOG, "alive");
        assertFalse(outbox.send());

        wire.room = 10;
        assertTrue(outbox.send());
        assertEquals(List.of("ready", "2 connections", "alive"), wire.sent);
    }

    @Test
    void statesKeepTheirOrder() {
        outbox.add(Kind.STATE, "reloading");
        outbox.add(Kind.STATE, "ready");
        outbox.add(Kind.STATE, "stopping");
        wire.room = 2;
        assertFalse(outbox.send());
        wire.room = 2;
        assertTrue(outbox.send());

        assertEquals(List.of("reloading", "ready", "stopping"), wire.sent);
    }

    @Test
    void whatWaitsIsBoundedAndTheLastWordStays() {
        for (int i = 0; i < 10_000; i++) {
            outbox.add(Kind.STATE, "state " + i);
        }
        wire.room = 10_000;
        assertTrue(outbox.send());

        assertEquals(64, wire.sent.size());
        assertEquals("state 9999", wire.sent.get(63));
    }

    @Test
    void troubleIsToldOnceAndSoIsItsEnd() {
        try (LogLines lines = new LogLines()) {
            outbox.add(Kind.STATE, "ready");
            wire.gone = true;
            for (int i = 0; i < 5; i++) {
                assertFalse(outbox.send());
            }
            wire.gone = false;
            assertFalse(outbox.send());
            wire.room = 1;
            assertTrue(outbox.send());

            assertEquals(
                    List.of(
                            "WARN systemd cannot be told now, tried again until it can: nobody listens",
                            "INFO systemd can be told again dropped=0"),
                    lines.all());
        }
    }
}
