package dev.tidegate.simulation;

import io.netty.buffer.Unpooled;

/** One TCP connection in a simulated network, between a socket of the balancer's and a peer. In each direction nothing overtakes. */
final class Link {
    /** What may be under way to a peer, or wait there to be read. */
    private static final int SEND_BUFFER = 16 * 1024;

    private final SimNetwork network;
    private final SimPeer peer;
    private SimSocket socket; // null until the balancer's side has it
    private int unread; // by the peer
    private long lastToPeer;
    private long lastToBalancer;
    private boolean balancerEnded;
    private long balancerEndedNanos = Long.MAX_VALUE;
    private long spokenNanos; // when the balancer last got bytes, or said some
    private boolean peerEnded;
    private boolean dead;

    Link(SimNetwork network, SimPeer peer) {
        this.network = network;
        this.peer = peer;
        this.spokenNanos = network.now();
    }

    void balancerHas(SimSocket own) {
        socket = own;
    }

    // ---- the balancer's side

    int room() {
        return SEND_BUFFER - unread;
    }

    void toPeer(byte[] bytes) {
        unread += bytes.length;
        spokenNanos = network.now();
        lastToPeer = network.later(lastToPeer, () -> {
            if (!dead) {
                peer.onBytes(this, bytes);
            }
        });
    }

    void finToPeer() {
        if (!balancerEnded) {
            balancerEnded = true;
            balancerEndedNanos = network.now();
            lastToPeer = network.later(lastToPeer, () -> {
                if (!dead) {
                    peer.onFin(this);
                }
            });
        }
    }

    void resetByBalancer() {
        balancerEnded = true;
        lastToPeer = network.later(lastToPeer, () -> {
            if (!dead) {
                dead = true;
                peer.onReset(this);
            }
        });
    }

    // ---- the peer's side

    /** The peer has read so many bytes: there is room for more. */
    void taken(int bytes) {
        unread -= bytes;
        network.later(0, () -> {
            if (socket != null) {
                socket.roomAgain();
            }
        });
    }

    /** When the balancer said its FIN; {@link Long#MAX_VALUE}: it has not. */
    long balancerEndedNanos() {
        return balancerEndedNanos;
    }

    /** How long it had been silent then, in both directions. */
    long silentBeforeEndNanos() {
        return balancerEndedNanos - spokenNanos;
    }

    /** Answers when they come to the balancer; never, when it is too late to send any. */
    long send(byte[] bytes) {
        if (peerEnded || dead) {
            return Long.MAX_VALUE;
        }
        toBalancer(Unpooled.wrappedBuffer(bytes));
        return lastToBalancer;
    }

    void fin() {
        if (!peerEnded && !dead) {
            peerEnded = true;
            toBalancer(SimSocket.End.FIN);
        }
    }

    void reset() {
        if (!dead) {
            dead = true;
            peerEnded = true;
            toBalancer(SimSocket.End.RESET);
        }
    }

    private void toBalancer(Object bytesOrEnd) {
        lastToBalancer = network.later(lastToBalancer, () -> {
            if (socket != null) {
                spokenNanos = balancerEnded ? spokenNanos : network.now();
                socket.arrive(bytesOrEnd);
            }
        });
    }
}
