package dev.tidegate.admin;

import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The connections that there may be at a time, and a few beyond those. UNIX sockets and TCP have places of their own:
 * whoever can reach a port must not be able to keep an operator from the socket. Confined to the admin loop.
 */
final class Places {
    private final int most;
    private final int reservedMost;
    private final Deque<Channel> reserved = new ArrayDeque<>();
    private int taken;

    /**
     * @param most ordinary ones
     * @param reservedMost beyond those
     */
    Places(int most, int reservedMost) {
        this.most = most;
        this.reservedMost = reservedMost;
    }

    /**
     * Takes a place until the connection closes. Of the reserved ones whoever has had one longest goes, since they have had
     * their time.
     *
     * @return whether it is an ordinary one
     */
    boolean take(Channel channel) {
        if (taken < most) {
            taken++;
            channel.closeFuture().addListener(closed -> taken--);
            return true;
        }
        if (reserved.size() >= reservedMost) {
            reserved.removeFirst().close();
        }
        reserved.addLast(channel);
        channel.closeFuture().addListener(closed -> reserved.remove(channel));
        return false;
    }
}
