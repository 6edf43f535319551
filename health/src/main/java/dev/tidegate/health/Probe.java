package dev.tidegate.health;

import java.net.InetSocketAddress;
import java.util.function.Consumer;

/**
 * One kind of check, with all it needs to know: what is sent, what is expected. Immutable; runs of it share nothing.
 * Records, so that two that ask the same are equal.
 */
public interface Probe {
    /**
     * Begins one check. On the loop of the context.
     *
     * @param context what it works with
     * @param address where to
     * @param done told once what was found, on the loop, perhaps before this returns; never after {@link Run#cancel}. A probe
     *     has no time-out of its own: whoever runs it cancels it
     */
    Run start(ProbeContext context, InetSocketAddress address, Consumer<Finding> done);

    /** A check under way. Confined to the loop. */
    interface Run {
        /**
         * Gives up: closes what it has open and tells nothing any more. After the end, and twice, without effect.
         *
         * @return how far it had come, for a person: {@code no connection}, {@code no answer to the handshake}
         */
        String cancel();

        /**
         * Whether it waits for its turn, since others of this process take all that there is of something. While it does, its
         * time does not run; {@link ProbeContext.Watch#onTurn} says when it begins to.
         */
        default boolean isWaiting() {
            return false;
        }
    }
}
