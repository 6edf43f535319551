package dev.tidegate.health;

import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;

/**
 * What a run of a probe works with. Immutable.
 *
 * @param loop the checks' own loop
 * @param connector opens connections
 * @param subject whose check it is
 * @param watch is told how the run itself fares
 */
public record ProbeContext(EventLoop loop, Connector connector, Subject subject, Watch watch) {
    /**
     * Whose check it is, for checks that tell their target.
     *
     * @param backend the name of the group
     * @param endpoint the target's name in it
     * @param address the target's configured address, HOST:PORT
     */
    public record Subject(String backend, String endpoint, String address) {}

    /** Is told how a run itself fares, apart from what it finds. On the loop. */
    public interface Watch {
        /**
         * The run is broken by a fault of its own, in that step. It then says {@link Finding#ofOwnFault}.
         *
         * @param step a verb: {@code start}
         */
        void onOwnFault(String step, Throwable fault);

        /** The run had to wait for its turn, which has come: its time begins now. */
        void onTurn();
    }

    /** Opens connections to targets: with the source address and the first bytes that a target asks for. Any thread. */
    @FunctionalInterface
    public interface Connector {
        /**
         * Connects.
         *
         * @param address where to
         * @param handler what the channel's events go to. It gets {@code channelActive} when connected, with what the
         *     target wants first (a PROXY header) already written; a failed connect fails the future
         * @return the connect; its channel is there at once
         */
        io.netty.channel.ChannelFuture connect(InetSocketAddress address, io.netty.channel.ChannelHandler handler);
    }
}
