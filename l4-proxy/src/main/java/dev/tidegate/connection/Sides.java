package dev.tidegate.connection;

import dev.tidegate.model.Side;
import dev.tidegate.relay.Flow;
import io.netty.channel.Channel;

/**
 * Both sides of a connection whose endpoint is connected, and the flows between them.
 *
 * @param downstream the client's channel
 * @param upstream the endpoint's channel
 * @param toEndpoint what the client sends goes by it
 * @param toClient what the endpoint sends goes by it
 */
record Sides(Channel downstream, Channel upstream, Flow toEndpoint, Flow toClient) {
    Channel channel(Side side) {
        return side == Side.DOWNSTREAM ? downstream : upstream;
    }

    /** What is written to a side. */
    Flow into(Side side) {
        return side == Side.DOWNSTREAM ? toClient : toEndpoint;
    }

    /** What is read from a side. */
    Flow outOf(Side side) {
        return side == Side.DOWNSTREAM ? toEndpoint : toClient;
    }

    static Side other(Side side) {
        return side == Side.DOWNSTREAM ? Side.UPSTREAM : Side.DOWNSTREAM;
    }
}
