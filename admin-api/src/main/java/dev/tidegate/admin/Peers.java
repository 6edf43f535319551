package dev.tidegate.admin;

import io.netty.channel.Channel;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;

/** Who is at the other end of an admin connection. */
final class Peers {
    private Peers() {}

    /**
     * The peer.
     *
     * @param reserved whether it came when all ordinary places were taken
     */
    static Exchange.Peer of(Channel channel, boolean reserved) {
        if (channel.remoteAddress() instanceof InetSocketAddress remote) {
            return new Exchange.Peer(NetUtil.toSocketAddressString(remote), remote.getAddress(), reserved);
        }
        return new Exchange.Peer("unix", channel.id(), reserved); // each of its connections is a client of its own
    }
}
