package dev.tidegate.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The picture of frontends, backends and endpoints that a connection reads once, when it is admitted; control publishes a
 * new one for every accepted change. It also says whose a listening socket is, so that sockets change hands in the moment
 * that a new picture is published, and not a moment before or after.
 *
 * <p>Immutable, save for the cells in it.
 */
public final class Snapshot {
    private final long generation;
    private final List<Frontend> frontends;
    private final List<Backend> backends;
    private final Map<String, Frontend> byName = new HashMap<>();
    private final Map<String, Frontend> byListener = new HashMap<>();

    /**
     * @param generation rises by one with every accepted change, from 1
     * @param frontends in the order of the configuration
     * @param backends in the order of the configuration
     */
    public Snapshot(long generation, List<Frontend> frontends, List<Backend> backends) {
        this.generation = generation;
        this.frontends = List.copyOf(frontends);
        this.backends = List.copyOf(backends);
        for (Frontend frontend : this.frontends) {
            byName.put(frontend.name(), frontend);
            frontend.listen().forEach(address -> byListener.put(listenerKey(frontend.name(), address), frontend));
        }
    }

    /** The number of the change that made it, from 1. */
    public long generation() {
        return generation;
    }

    /** All frontends, in the order of the configuration. */
    public List<Frontend> frontends() {
        return frontends;
    }

    /** All backends, in the order of the configuration. */
    public List<Backend> backends() {
        return backends;
    }

    /**
     * The frontend of that name.
     *
     * @return null when there is none
     */
    public Frontend frontend(String name) {
        return byName.get(name);
    }

    /**
     * The frontend that a listening socket takes connections for.
     *
     * @param listenerKey as {@link #listenerKey} gives it
     * @return null when no frontend of this snapshot listens there
     */
    public Frontend frontendAt(String listenerKey) {
        return byListener.get(listenerKey);
    }

    /**
     * What a listening socket is known by: its address, whichever frontend has it now. With port 0 each frontend has a
     * socket of its own, so there the frontend's name is part of it.
     *
     * @param frontend the frontend's name
     * @param address in canonical form
     */
    public static String listenerKey(String frontend, String address) {
        return address.endsWith(":0") ? frontend + " " + address : address;
    }

    @Override
    public String toString() {
        return "snapshot " + generation;
    }
}
