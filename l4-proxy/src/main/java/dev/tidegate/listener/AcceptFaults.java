package dev.tidegate.listener;

/** Is told of failed accepts, at whatever rate they come. On any worker's loop; must not block. */
@FunctionalInterface
public interface AcceptFaults {
    /**
     * An accept failed; accepting pauses.
     *
     * @param listener the listener's address
     * @param pauseMillis for how long
     */
    void onAcceptFailed(String listener, Throwable cause, long pauseMillis);
}
