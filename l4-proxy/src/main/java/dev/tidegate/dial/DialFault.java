package dev.tidegate.dial;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import dev.tidegate.model.Failure;
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

    /**
     * What a failed connect says against the endpoint.
     *
     * @return null when it says nothing: what is wrong is here
     */
    static Failure blame(ConnectResult result, Throwable cause) {
        return switch (result) {
            case REFUSED -> Failure.REFUSED;
            case TIMEOUT -> Failure.TIMEOUT;
            case FAILED -> {
                if (isUnreachable(cause)) {
                    yield Failure.UNREACHABLE;
                }
                // It accepted and reset before the connect's end was looked at: dialing it is as futile as if it
                // refused.
                yield says(cause, "connection reset") ? Failure.REFUSED : null;
            }
            case OK, CANCELLED -> null;
        };
    }

    private static boolean isUnreachable(Throwable cause) {
        return says(cause, "unreachable") || says(cause, "no route to host") || says(cause, "host is down");
    }

    private static boolean says(Throwable cause, String words) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (String.valueOf(at.getMessage()).toLowerCase(Locale.ROOT).contains(words)) {
                return true;
            }
        }
        return false;
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
