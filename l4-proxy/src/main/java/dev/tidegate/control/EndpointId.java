package dev.tidegate.control;

import dev.tidegate.config.EndpointAddress;
import java.util.Comparator;

/**
 * What makes an endpoint the same endpoint over reloads and renames: its backend and its address. Immutable; ordered by
 * both.
 *
 * @param backend the backend's name
 * @param address in canonical form
 */
public record EndpointId(String backend, String address) implements Comparable<EndpointId> {
    private static final Comparator<EndpointId> ORDER =
            Comparator.comparing(EndpointId::backend).thenComparing(EndpointId::address);

    /**
     * Checks the address.
     *
     * @throws IllegalArgumentException if the backend is empty, or the address none or not canonical
     */
    public EndpointId {
        if (backend.isEmpty()) {
            throw new IllegalArgumentException("endpoint " + address + " is in a backend without a name");
        }
        String canonical = EndpointAddress.parse(address).toString();
        if (!canonical.equals(address)) {
            throw new IllegalArgumentException(
                    "endpoint address \"" + address + "\" is not canonical; the canonical form is " + canonical);
        }
    }

    /** The endpoint with that address in that backend. */
    public static EndpointId of(String backend, EndpointAddress address) {
        return new EndpointId(backend, address.toString());
    }

    @Override
    public int compareTo(EndpointId other) {
        return ORDER.compare(this, other);
    }

    /** As a log shows it. */
    @Override
    public String toString() {
        return backend + "/" + address;
    }
}
