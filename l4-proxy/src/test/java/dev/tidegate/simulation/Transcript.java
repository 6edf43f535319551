package dev.tidegate.simulation;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** What was said on one client's connection: what each end has sent, and what has come there. */
final class Transcript {
    private final ByteArrayOutputStream sentByClient = new ByteArrayOutputStream();
    private final ByteArrayOutputStream cameToEndpoint = new ByteArrayOutputStream();
    private final ByteArrayOutputStream sentByEndpoint = new ByteArrayOutputStream();
    private final ByteArrayOutputStream cameToClient = new ByteArrayOutputStream();
    private final List<Integer> taken = new ArrayList<>();
    private Link served;
    private boolean endpointLeaves;

    void clientSent(byte[] bytes) {
        sentByClient.writeBytes(bytes);
    }

    void endpointGot(byte[] bytes) {
        cameToEndpoint.writeBytes(bytes);
    }

    void endpointSent(byte[] bytes) {
        sentByEndpoint.writeBytes(bytes);
    }

    void clientGot(byte[] bytes) {
        cameToClient.writeBytes(bytes);
    }

    /** An endpoint has found out whose connection it has. Once bytes have passed there is no other. */
    void servedBy(Link link) {
        Judge.check(
                served == null || served == link,
                () -> "what one client says has come to an endpoint on two connections");
        served = link;
    }

    /** An endpoint has a request whole, and begins to work on it. */
    void took(int request) {
        Judge.check(!taken.contains(request), () -> "request " + request + " has come to an endpoint twice");
        taken.add(request);
    }

    /** The endpoint itself tells the client that the connection ends. */
    void endpointLeaves() {
        endpointLeaves = true;
    }

    boolean hasEndpointLeft() {
        return endpointLeaves;
    }

    /** The requests that an endpoint has begun to work on; of HTTP/2 their streams. */
    List<Integer> taken() {
        return taken;
    }

    byte[] sentByClient() {
        return sentByClient.toByteArray();
    }

    byte[] cameToEndpoint() {
        return cameToEndpoint.toByteArray();
    }

    byte[] sentByEndpoint() {
        return sentByEndpoint.toByteArray();
    }

    byte[] cameToClient() {
        return cameToClient.toByteArray();
    }
}
