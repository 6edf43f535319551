package dev.tidegate.telemetry;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Side;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Access records to write. */
final class Records {
    private Records() {}

    static InetSocketAddress address(String literal, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(literal), port);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(literal, e);
        }
    }

    /** A connection as most are. */
    static AccessRecord usual(int worker, long sequence) {
        AccessRecord record = new AccessRecord();
        record.worker = worker;
        record.sequence = sequence;
        record.frontend = "edge";
        record.listener = "0.0.0.0:8443";
        record.client = address("192.0.2.7", 50123);
        record.local = address("2001:db8::1", 8443);
        record.backend = "gateways";
        record.endpoint = "a";
        record.endpointAddress = address("10.0.0.11", 8080);
        record.generation = 3;
        record.connectNanos = 1_234_499;
        record.firstByteNanos = 2_000_500;
        record.durationNanos = 61_000_000_000L;
        record.bytesReceived = 517;
        record.bytesSent = 12_345_678_901L;
        record.requests = 7;
        record.attempts = 2;
        record.closedBy = Side.DOWNSTREAM;
        record.reason = CloseReason.CLIENT_CLOSED;
        return record;
    }
}
