package dev.tidegate.worker;

import dev.tidegate.model.Protocol;
import java.net.InetSocketAddress;

/**
 * One open connection as an operator sees it. Immutable.
 *
 * @param worker its worker's number
 * @param sequence its number on that worker
 * @param frontend that it came in by
 * @param listener that it came in by
 * @param client its other end; null when the kernel did not know it any more
 * @param backend where it goes
 * @param endpoint the endpoint's name; null while none was picked
 * @param endpointAddress the address of that; null while none was picked
 * @param state {@code dialing}, {@code relaying} or {@code closing}
 * @param protocol what its bytes show
 * @param retiring the reason that it is to end for; null when it may stay
 * @param told whether its client has been told that it ends
 * @param softNanos when it comes to be retired by what is known now, by the worker's ticker; null when it is so already, or
 *     nothing is going to
 * @param acceptedNanos when it was accepted, by the worker's ticker
 * @param progressNanos when bytes last moved, by the worker's ticker
 * @param requests so far; where no protocol is recognised, each time the client speaks, first or after the endpoint
 * @param bytesReceived from the client
 * @param bytesSent to the client
 * @param generation of the snapshot that it follows
 */
public record ResidentInfo(
        int worker,
        long sequence,
        String frontend,
        String listener,
        InetSocketAddress client,
        String backend,
        String endpoint,
        InetSocketAddress endpointAddress,
        String state,
        Protocol protocol,
        String retiring,
        boolean told,
        Long softNanos,
        long acceptedNanos,
        long progressNanos,
        long requests,
        long bytesReceived,
        long bytesSent,
        long generation) {}
