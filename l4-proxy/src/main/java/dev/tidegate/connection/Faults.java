package dev.tidegate.connection;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Side;
import java.io.IOException;
import java.util.Locale;

/** What a channel's fault says about why a connection ends. Stateless. */
final class Faults {
    private Faults() {}

    /** The reason, when that side's channel failed so. */
    static CloseReason reason(Side side, Throwable cause) {
        if (cause instanceof OutOfMemoryError) {
            return CloseReason.OVERLOAD;
        }
        if (!(cause instanceof IOException)) {
            return CloseReason.INTERNAL_ERROR;
        }
        if (isTimeOut(cause)) {
            return CloseReason.UNACKED;
        }
        return side == Side.DOWNSTREAM ? CloseReason.CLIENT_RESET : CloseReason.ENDPOINT_RESET;
    }

    /**
     * Whether the kernel gave the peer up for its silence. In place of the time-out Linux tells what it had heard meanwhile
     * of the way there, from a neighbour that did not answer or from ICMP; on a connected socket that alone ends nothing.
     * Errors come as words only: neither the JDK nor Netty passes the number on.
     */
    private static boolean isTimeOut(Throwable cause) {
        String message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
        return message.contains("timed out")
                || message.contains("no route to host")
                || message.contains("unreachable")
                || message.contains("host is down");
    }
}
