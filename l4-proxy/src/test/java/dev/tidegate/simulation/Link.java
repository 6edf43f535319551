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
    private boolean peerEnded;
    private boolean dead;

    Link(SimNetwork network, SimPeer peer) {
        this.network = network;
        this.peer = peer;
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
        lastToPeer = network.later(lastToPeer, () -> {
            if (!dead) {
                peer.onBytes(this, bytes);
            }
        });
    }

    void finToPeer() {
        if (!balancerEnded) {
            balancerEnded = true;
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

    void send(byte[] bytes) {
        if (!peerEnded && !dead) {
            toBalancer(Unpooled.wrappedBuffer(bytes));
        }
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
                socket.arrive(bytesOrEnd);
            }
        });
    }
}
