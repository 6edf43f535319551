package dev.tidegate.health;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * What is checked. Immutable.
 *
 * @param id unique among targets; the same id over a change of anything else is the same target and keeps its condition
 * @param subject its names
 * @param addresses where checks go, each in turn until one passes; empty: it is not checked, for want of an address
 * @param source the address that checks come from; null: the system's choice
 * @param greeting what the target expects first
 * @param plan how it is checked
 */
public record Target(
        String id,
        ProbeContext.Subject subject,
        List<InetSocketAddress> addresses,
        InetSocketAddress source,
        Greeting greeting,
        CheckPlan plan) {
    /** Copies the list. */
    public Target {
        addresses = List.copyOf(addresses);
    }

    /** What a target expects before anything else. */
    public enum Greeting {
        /** Nothing. */
        NONE,
        /** A PROXY header of version 1: {@code UNKNOWN}, since that version has no word for "the proxy itself". */
        PROXY_V1,
        /** A PROXY header of version 2 with the command LOCAL. */
        PROXY_V2
    }
}
