package dev.tidegate.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;

/** Ends sockets so that their peers do not take it for a clean end. Stateless. */
final class Resets {
    private Resets() {}

    /** Closes with a reset instead of a FIN, whatever is queued. */
    static void reset(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }
}
