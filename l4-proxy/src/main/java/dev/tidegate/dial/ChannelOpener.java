package dev.tidegate.dial;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.net.InetSocketAddress;

/** Makes a channel of the process's transport. Any thread. */
@FunctionalInterface
public interface ChannelOpener {
    /**
     * Opens a socket of the family of {@code target}, with the options that every upstream socket has, not yet registered.
     *
     * @param target where it will connect to
     * @param handler what its events go to
     */
    Channel open(InetSocketAddress target, ChannelHandler handler);
}
