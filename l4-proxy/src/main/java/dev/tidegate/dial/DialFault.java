package dev.tidegate.dial;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import java.util.Locale;

/** Sorts a failed connect into the words that counters and close reasons have. Pure; any thread. */
final class DialFault {
    private DialFault() {}

    /**
     * The transports tell a refusal by different exceptions, and the same exception tells other things too; what all share
     * is the kernel's text.
     */
    static ConnectResult of(Throwable cause) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            String text = String.valueOf(at.getMessage()).toLowerCase(Locale.ROOT);
            if (text.contains("refused")) {
                return ConnectResult.REFUSED;
            }
            if (text.contains("timed out")) {
                return ConnectResult.TIMEOUT;
            }
        }
        return ConnectResult.FAILED;
    }

    /** The reason of a connection whose last attempt came out so. */
    static CloseReason reason(ConnectResult result) {
        return switch (result) {
            case REFUSED -> CloseReason.DIAL_REFUSED;
            case TIMEOUT -> CloseReason.DIAL_TIMEOUT;
            case OK, FAILED, CANCELLED -> CloseReason.DIAL_FAILED;
        };
    }
}
