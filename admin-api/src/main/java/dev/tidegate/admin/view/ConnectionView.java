package dev.tidegate.admin.view;

/**
 * One open connection.
 *
 * @param id to close it by
 * @param frontend that it came in by
 * @param listener that it came in by
 * @param client address and port
 * @param backend where it goes
 * @param endpoint where it is; null while none was picked
 * @param endpointAddress the address of that; null while none was picked
 * @param protocol what its bytes show: {@code http1}, {@code http2} or, if neither, {@code tcp}
 * @param state {@code dialing}, {@code relaying} or {@code closing}
 * @param retiring the reason it is retired for; null when it is not
 * @param told whether its client has been told that it ends, by GOAWAY or {@code Connection: close}
 * @param softLimitInMs when it comes to be retired by what is known now, in milliseconds; null when it is so already, or
 *     nothing is going to
 * @param ageMs since accept, in milliseconds
 * @param idleMs since the last progress, in milliseconds
 * @param requests counted so far
 * @param bytesReceived from the client
 * @param bytesSent to the client
 * @param worker its worker's number
 * @param generation of the snapshot that it follows
 */
public record ConnectionView(
        String id,
        String frontend,
        String listener,
        String client,
        String backend,
        @MayBeNull String endpoint,
        @MayBeNull String endpointAddress,
        String protocol,
        String state,
        @MayBeNull String retiring,
        boolean told,
        @MayBeNull Long softLimitInMs,
        long ageMs,
        long idleMs,
        long requests,
        long bytesReceived,
        long bytesSent,
        int worker,
        long generation) {}
