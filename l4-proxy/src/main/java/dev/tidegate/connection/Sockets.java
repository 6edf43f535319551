package dev.tidegate.connection;

import dev.tidegate.dial.ChannelOpener;
import io.netty.channel.Channel;

/** What a connection needs to know of the process's transport. Any thread. */
public interface Sockets extends ChannelOpener {
    /** Whether a reset that follows a FIN goes unheard while nothing is written. */
    boolean missesResetWhenHalfClosed();

    /** Whether a reset goes unheard while reading is paused. */
    boolean missesResetWhenPaused();

    /** Whether the kernel says that the socket is dead. False where the transport cannot ask. */
    boolean isDead(Channel channel);

    /**
     * What the kernel still holds of the bytes written: 0 once the peer has acknowledged all of them, and changing while it
     * acknowledges. Bytes not sent and segments not acknowledged, added up. 0 where the transport cannot ask.
     */
    long undelivered(Channel channel);

    /**
     * Sets what only a connection of some age needs: keepalive, and the limit on unacknowledged bytes. Those that are
     * accepted have it from their listener where the transport can.
     *
     * @param accepted whether the socket was accepted, rather than connected
     * @param unackedMillis 0 for no limit
     */
    void setLateOptions(Channel channel, boolean accepted, int unackedMillis);
}
