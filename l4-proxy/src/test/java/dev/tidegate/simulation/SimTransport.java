package dev.tidegate.simulation;

import dev.tidegate.listener.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.socket.ServerSocketChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/** The balancer's sockets in a simulated network. */
final class SimTransport implements Transport {
    private final SimNetwork network;
    private final Consumer<InetSocketAddress> onDial;

    /** {@code onDial} is told of each attempt to connect, before it is made. */
    SimTransport(SimNetwork network, Consumer<InetSocketAddress> onDial) {
        this.network = network;
        this.onDial = onDial;
    }

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public IoHandlerFactory ioHandlers() {
        return SimLoop.NO_IO;
    }

    @Override
    public ServerSocketChannel openListener(InetAddress address, boolean v6Only, int unackedMillis) {
        try {
            return new SimListener(network);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    @Override
    public Channel open(InetSocketAddress target, ChannelHandler handler) {
        onDial.accept(target);
        SimSocket socket = new SimSocket(network);
        prepareAccepted(socket);
        socket.pipeline().addLast(handler);
        return socket;
    }

    @Override
    public boolean supportsV6Only() {
        return true;
    }

    @Override
    public boolean acceptsOtherFamily() {
        return false;
    }

    @Override
    public boolean missesResetWhenHalfClosed() {
        return true;
    }

    @Override
    public boolean missesResetWhenPaused() {
        return true;
    }

    @Override
    public boolean isDead(Channel channel) {
        return ((SimSocket) channel).isReset();
    }

    @Override
    public long undelivered(Channel channel) {
        return 0;
    }

    @Override
    public void setLateOptions(Channel channel, boolean accepted, int unackedMillis) {
        // Nobody vanishes here without the network's word.
    }
}
