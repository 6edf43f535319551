package dev.tidegate.telemetry;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Side;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * The layout of HAProxy's {@code option tcplog} (its configuration manual, section 8.2.2), so that what reads those lines
 * reads these. Counts of connections and queues are not kept for a connection and stand as 0.
 */
final class HaproxyLineFormat implements LineFormat {
    private final TimeText time = new TimeText("dd/MMM/yyyy:HH:mm:ss");
    private final StringBuilder line = new StringBuilder(256);

    @Override
    public void write(AccessRecord record, LineBuffer out) {
        line.setLength(0);
        appendClient(record.client);
        line.append(" [");
        time.append(record.endMillis - TimeUnit.NANOSECONDS.toMillis(record.durationNanos), line);
        line.append("] ");
        appendName(record.frontend, "-");
        line.append(' ');
        appendName(record.backend != null ? record.backend : record.frontend, "-");
        line.append('/');
        appendName(record.endpoint, "<NOSRV>");
        line.append(' ').append(record.endpoint == null ? -1 : 0);
        line.append('/').append(millis(record.connectNanos));
        line.append('/').append(millis(record.durationNanos));
        line.append(' ').append(record.bytesSent);
        line.append(' ').append(termination(record.reason, record.connectNanos >= 0, record.closedBy));
        line.append(" 0/0/0/0/").append(Math.max(0, record.attempts - 1));
        line.append(" 0/0\n");
        out.append(line);
    }

    /**
     * The two letters for an end: who or what ended it, and when (C: before the endpoint was connected, D: after).
     *
     * @param closedBy the side that began the end; null when Tidegate did
     */
    static String termination(CloseReason reason, boolean connected, Side closedBy) {
        char phase = connected ? 'D' : 'C';
        return switch (reason) {
            case CLIENT_CLOSED -> connected ? "--" : "CC";
            case ENDPOINT_CLOSED -> "--";
            case CLIENT_RESET -> "C" + phase;
            case ENDPOINT_RESET -> "S" + phase;
            case IDLE -> "c" + phase;
            case HALF_CLOSED_TIMEOUT -> closedBy == Side.DOWNSTREAM ? "sD" : "cD";
            case UNACKED -> closedBy == Side.UPSTREAM ? "sD" : "cD";
            case MAX_AGE, MAX_REQUESTS, MAX_BYTES, DRAIN, REBALANCE, SHUTDOWN, KILLED -> "K" + phase;
            case ENDPOINT_DOWN, ENDPOINT_REMOVED -> "D" + phase;
            case NO_ENDPOINT, DIAL_REFUSED, DIAL_FAILED -> "SC";
            case DIAL_TIMEOUT -> "sC";
            case REJECTED_LIMIT -> "PC";
            case REJECTED_RATE, REJECTED_RULE, PROXY_HEADER -> "PR";
            case OVERLOAD -> "R" + phase;
            case INTERNAL_ERROR -> "I" + phase;
        };
    }

    private static long millis(long nanos) {
        return nanos < 0 ? -1 : TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    private void appendClient(SocketAddress client) {
        if (client instanceof InetSocketAddress inet && inet.getAddress() != null) {
            line.append(AddressText.host(inet.getAddress())).append(':').append(inet.getPort());
        } else {
            line.append("-:-"); // as HAProxy writes an address that it does not know
        }
    }

    /** Names may hold what would end a field: such bytes are written as # and two hexadecimal digits. */
    private void appendName(String name, String otherwise) {
        if (name == null) {
            line.append(otherwise);
            return;
        }
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            if (b <= ' ' || b == 0x7f || b == '#' || b == '/') {
                line.append('#');
                line.append(Character.toUpperCase(Character.forDigit(b >> 4 & 0xf, 16)));
                line.append(Character.toUpperCase(Character.forDigit(b & 0xf, 16)));
            } else {
                line.append((char) b);
            }
        }
    }
}
