package dev.tidegate.bench;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How large what is compared is made. Immutable.
 *
 * @param workers threads (HAProxy, Tidegate) or processes (nginx) that carry connections
 * @param endpoints of the one backend; all are the same listening socket, reached by as many loopback addresses
 */
record Shape(int workers, int endpoints) {
    static final Shape SMALLEST = new Shape(1, 1);

    /** A backend that listens at 127.0.0.1 has one address; one that listens everywhere has all of 127.0.0.0/8. */
    List<InetSocketAddress> addresses(InetSocketAddress backend) {
        if (endpoints == 1) {
            return List.of(backend);
        }
        return IntStream.range(0, endpoints)
                .mapToObj(place -> new InetSocketAddress(loopback(place), backend.getPort()))
                .toList();
    }

    private static InetAddress loopback(int place) {
        try {
            return InetAddress.getByAddress(new byte[] {127, 1, (byte) (place / 250), (byte) (place % 250 + 1)});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes are no address", e);
        }
    }
}
