package dev.tidegate.systemd;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages that wait to be sent, in their order. Nothing that can come again and again piles up: of texts, pings and
 * extensions only the last of each waits.
 *
 * <p>Confined to the notifier's thread.
 */
final class Outbox {
    private static final Logger log = LoggerFactory.getLogger(Outbox.class);

    /** Of what must all be said, in their order: more than that wait only where nobody has read for hours. */
    private static final int MOST = 64;

    /** What a message is about. */
    enum Kind {
        /** Ready, reloading, stopping, another main process: each counts, in its order. */
        STATE,
        /** What the process does, in words. */
        STATUS,
        /** A sign of life. */
        WATCHDOG,
        /** A plea for time. */
        EXTENSION
    }

    private record Message(Kind kind, String text) {}

    private final Wire wire;
    private final Deque<Message> waiting = new ArrayDeque<>();
    private boolean troubled;
    private long dropped;

    Outbox(Wire wire) {
        this.wire = wire;
    }

    void add(Kind kind, String text) {
        if (kind != Kind.STATE) {
            waiting.removeIf(message -> message.kind() == kind);
        }
        if (waiting.size() >= MOST) {
            waiting.removeFirst(); // the last word on a state is the one that counts
            dropped++;
        }
        waiting.addLast(new Message(kind, text));
    }

    /**
     * Sends what waits, as far as that goes now.
     *
     * @return whether nothing is left
     */
    boolean send() {
        while (!waiting.isEmpty()) {
            try {
                if (!wire.trySend(Objects.requireNonNull(waiting.peekFirst()).text())) {
                    onTrouble("its socket is full");
                    return false;
                }
            } catch (IOException cannot) {
                onTrouble(cannot.getMessage());
                return false;
            }
            waiting.removeFirst();
            onSent();
        }
        return true;
    }

    private void onTrouble(String why) {
        if (!troubled) {
            troubled = true;
            log.warn("systemd cannot be told now, tried again until it can: {}", why);
        }
    }

    private void onSent() {
        if (troubled) {
            troubled = false;
            log.info("systemd can be told again dropped={}", dropped);
        }
    }

    void close() {
        wire.close();
    }
}
