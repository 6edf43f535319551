package dev.tidegate.simulation;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DefaultServerSocketChannelConfig;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;

/** A listening socket in a simulated network. */
final class SimListener extends AbstractServerChannel implements ServerSocketChannel {
    private final SimNetwork network;
    private final ServerSocketChannelConfig config;
    private final Deque<SimSocket> queue = new ArrayDeque<>();
    private InetSocketAddress address;
    private boolean open = true;
    private boolean wantsAccept;

    SimListener(SimNetwork network) throws IOException {
        this.network = network;
        this.config = new DefaultServerSocketChannelConfig(this, new NoSocket());
    }

    /** A client has connected. */
    void enqueue(SimSocket accepted) {
        queue.add(accepted);
        acceptSoon();
    }

    @Override
    protected void doBeginRead() {
        wantsAccept = true;
        acceptSoon();
    }

    private void acceptSoon() {
        if (wantsAccept && !queue.isEmpty()) {
            eventLoop().execute(this::accept);
        }
    }

    private void accept() {
        if (!open || !wantsAccept || queue.isEmpty()) {
            return;
        }
        wantsAccept = false;
        while (!queue.isEmpty()) {
            pipeline().fireChannelRead(queue.poll());
        }
        pipeline().fireChannelReadComplete();
    }

    @Override
    protected void doBind(SocketAddress wanted) throws IOException {
        address = network.bind((InetSocketAddress) wanted, this);
    }

    @Override
    protected void doClose() {
        open = false;
        if (address != null) {
            network.unbind(address);
        }
        for (SimSocket waiting : queue) {
            waiting.config().setSoLinger(0);
            waiting.unsafe().closeForcibly();
        }
        queue.clear();
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        promise.setSuccess();
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimLoop;
    }

    @Override
    public ServerSocketChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && address != null;
    }

    @Override
    public InetSocketAddress localAddress() {
        return address;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    protected SocketAddress localAddress0() {
        return address;
    }

    /** Keeps the options that a socket of the system would have. */
    private static final class NoSocket extends ServerSocket {
        NoSocket() throws IOException {}

        @Override
        public void setReuseAddress(boolean on) {}

        @Override
        public int getReceiveBufferSize() {
            return 0;
        }
    }
}
