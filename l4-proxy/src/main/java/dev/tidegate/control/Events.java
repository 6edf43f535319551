package dev.tidegate.control;

import dev.tidegate.admin.view.EventView;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What has happened lately, for whoever looks, and what happens, for whoever follows. Each follower is told of each event
 * once and in order, by whichever thread emits; a follower may emit itself.
 *
 * <p>Any thread. No lock is held while followers are told.
 */
public final class Events {
    /** How many of the last events are kept. */
    public static final int KEPT = 1_000;

    private static final Logger log = LoggerFactory.getLogger(Events.class);

    /** Whoever follows from the event with that id on. Equal to itself only: one sink may follow twice. */
    private static final class Follower {
        private final Consumer<EventView> sink;
        private final long from;

        Follower(Consumer<EventView> sink, long from) {
            this.sink = sink;
            this.from = from;
        }
    }

    private final InstantSource time;
    private final List<Follower> followers = new CopyOnWriteArrayList<>();
    private final Object monitor = new Object();
    /** The last events, and those that followers have not been told of. All: monitor. */
    private final ArrayDeque<EventView> kept = new ArrayDeque<>(KEPT);

    private final ArrayDeque<EventView> untold = new ArrayDeque<>();
    private boolean telling;
    private long nextId = 1;

    /** None yet; {@code time} says when each happens. */
    public Events(InstantSource time) {
        this.time = time;
    }

    /**
     * Something has happened.
     *
     * @param type such as {@code drain-started}
     * @param message for a person
     * @param fields the same for a program; copied
     * @return the event, which followers have been told of, or are about to be by another thread
     */
    public EventView emit(String type, String message, Map<String, Object> fields) {
        Map<String, Object> copy = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
        EventView event;
        synchronized (monitor) {
            event = new EventView(nextId++, time.instant(), type, message, copy);
            if (kept.size() == KEPT) {
                kept.removeFirst();
            }
            kept.addLast(event);
            untold.addLast(event);
            if (telling) {
                return event; // whoever tells now, perhaps this very thread further up, goes on with it
            }
            telling = true;
        }
        tellAll();
        return event;
    }

    private void tellAll() {
        EventView event = nextUntold();
        while (event != null) {
            for (Follower follower : followers) {
                if (event.id() >= follower.from) {
                    tell(follower, event);
                }
            }
            event = nextUntold();
        }
    }

    private EventView nextUntold() {
        synchronized (monitor) {
            telling = !untold.isEmpty();
            return untold.pollFirst();
        }
    }

    /** Whatever is wrong with a follower is no concern of the others, nor of who emits. */
    private void tell(Follower follower, EventView event) {
        try {
            follower.sink.accept(event);
        } catch (Throwable fault) {
            followers.remove(follower);
            log.error("a follower of events failed and is dropped event={}", event.id(), fault);
        }
    }

    /**
     * The last events.
     *
     * @param max how many at most; 0 or less gives none
     * @return the oldest first
     */
    public List<EventView> recent(int max) {
        synchronized (monitor) {
            List<EventView> all = new ArrayList<>(kept);
            int count = Math.max(0, Math.min(max, all.size()));
            return List.copyOf(all.subList(all.size() - count, all.size()));
        }
    }

    /**
     * Has every event from now on told. To miss none of those before, follow first, then take {@link #recent}, and pass over
     * what comes twice, by its id.
     *
     * @param sink told by any thread, one event at a time, ids rising; must not wait. When it throws it is dropped
     * @return ends it; what is being told at that moment may still come
     */
    public Runnable follow(Consumer<EventView> sink) {
        Follower follower;
        synchronized (monitor) {
            follower = new Follower(sink, nextId);
            followers.add(follower);
        }
        return () -> followers.remove(follower);
    }
}
