package dev.tidegate.handover;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** The running process, as far as it gives its sockets away. Called on the hand-over's own thread; must not wait. */
public interface Giver {
    /**
     * Another process wants to take over. From here until {@link #goOn} or {@link #taken} nothing changes that it reads.
     *
     * @return all sockets, once what the other is to find is on the disk; completes exceptionally with why there is nothing
     *     to give
     */
    CompletionStage<List<HandedSocket>> give();

    /** The other has gone before it was ready: all is as if nothing had happened. */
    void goOn();

    /**
     * The other is ready.
     *
     * @param pid its process
     * @return completes when this process accepts no more; exceptionally with why, where it does not give way after all
     */
    CompletionStage<Void> taken(long pid);
}
