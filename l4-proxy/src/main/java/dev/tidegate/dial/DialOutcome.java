package dev.tidegate.dial;

import dev.tidegate.model.CloseReason;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;

/** How a dial ends: exactly one of {@link #onConnected} and {@link #onDialFailed} is called, once, unless it is cancelled. On the worker's loop. */
public interface DialOutcome {
    /** The handler for the next attempt's channel. Of an attempt that fails its events are to be ignored. */
    ChannelHandler nextHandler();

    /** An endpoint is connected; its count is held for the caller, who gives it back when the connection is over. */
    void onConnected(Channel upstream);

    /** No endpoint could be reached; nothing is held. */
    void onDialFailed(CloseReason reason);
}
