package dev.tidegate.simulation;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.DefaultSocketChannelConfig;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A TCP socket of the balancer's in a simulated network, as Netty's own behave: half-closure, resets, a bounded send buffer. A
 * reset is heard by whoever reads, as with nio.
 */
final class SimSocket extends AbstractChannel implements SocketChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final int READS_A_TURN = 4;

    /** What stands behind the last byte. */
    enum End {
        FIN,
        RESET
    }

    private final SimNetwork network;
    private final SimConfig config = new SimConfig(this, new NoSocket());
    private final Deque<Object> arrived = new ArrayDeque<>(); // ByteBuf, and at the end an End
    private InetSocketAddress local;
    private InetSocketAddress remote;
    private Link link;
    private ChannelPromise connecting;
    private boolean open = true;
    private boolean wantsRead;
    private boolean readPosted;
    private boolean writeBlocked;
    private boolean inputShut;
    private boolean outputShut;
    private boolean reset;

    /** One that will connect. */
    SimSocket(SimNetwork network) {
        super(null);
        this.network = network;
    }

    /** One that was accepted. */
    SimSocket(SimListener parent, SimNetwork network, Link link, InetSocketAddress local, InetSocketAddress remote) {
        super(parent);
        this.network = network;
        this.link = link;
        this.local = local;
        this.remote = remote;
        link.balancerHas(this);
    }

    // ---- what the network tells

    /** The endpoint has answered. */
    void connected(Link to, InetSocketAddress from) {
        ChannelPromise promise = connecting;
        connecting = null;
        if (!open || promise == null) {
            to.resetByBalancer();
            return;
        }
        link = to;
        local = from;
        link.balancerHas(this);
        if (promise.trySuccess()) {
            pipeline().fireChannelActive();
        } else {
            unsafe().close(voidPromise());
        }
    }

    /** There is no endpoint. */
    void refused(IOException why) {
        ChannelPromise promise = connecting;
        connecting = null;
        if (promise != null) {
            promise.tryFailure(why);
            unsafe().close(voidPromise());
        }
    }

    /** Bytes have come, or an end. */
    void arrive(Object bytesOrEnd) {
        if (!open) {
            if (bytesOrEnd instanceof ByteBuf bytes) {
                bytes.release();
                link.resetByBalancer(); // nobody is there to read them
            }
            return;
        }
        if (bytesOrEnd == End.RESET) {
            reset = true;
        }
        arrived.add(bytesOrEnd);
        postRead();
    }

    /** The peer has taken bytes. */
    void roomAgain() {
        if (writeBlocked && open) {
            writeBlocked = false;
            eventLoop().execute(() -> ((SimUnsafe) unsafe()).flushAgain());
        }
    }

    boolean isReset() {
        return reset;
    }

    // ---- reading

    @Override
    protected void doBeginRead() {
        wantsRead = true;
        postRead();
    }

    private void postRead() {
        if (wantsRead && !readPosted && !arrived.isEmpty() && isRegistered()) {
            readPosted = true;
            eventLoop().execute(this::readNow);
        }
    }

    private void readNow() {
        readPosted = false;
        if (!open || !wantsRead) {
            return;
        }
        wantsRead = false;
        int read = 0;
        while (read < READS_A_TURN && arrived.peek() instanceof ByteBuf && (read == 0 || config.isAutoRead())) {
            pipeline().fireChannelRead(arrived.poll());
            read++;
        }
        if (read > 0) {
            pipeline().fireChannelReadComplete();
        }
        if (open && arrived.peek() instanceof End && (read == 0 || wantsRead)) {
            End end = (End) arrived.poll();
            if (end == End.RESET) {
                pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
            }
            endInput();
        }
        postRead();
    }

    private void endInput() {
        if (!open || inputShut) {
            return;
        }
        inputShut = true;
        if (config.isAllowHalfClosure()) {
            pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        } else {
            unsafe().close(voidPromise());
        }
    }

    // ---- writing

    @Override
    protected void doWrite(ChannelOutboundBuffer queue) throws IOException {
        while (queue.current() instanceof ByteBuf bytes) {
            if (reset) {
                throw new IOException("Broken pipe");
            }
            int count = Math.min(bytes.readableBytes(), link.room());
            if (count == 0 && bytes.isReadable()) {
                writeBlocked = true;
                return;
            }
            if (count > 0) {
                byte[] part = new byte[count];
                bytes.getBytes(bytes.readerIndex(), part);
                link.toPeer(part);
            }
            queue.removeBytes(count);
            if (count == 0) {
                queue.remove();
            }
        }
    }

    @Override
    protected void doShutdownOutput() {
        outputShut = true;
        if (link != null) {
            link.finToPeer();
        }
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        ((AbstractUnsafe) unsafe()).shutdownOutput(promise);
        return promise;
    }

    // ---- the end

    @Override
    protected void doClose() {
        open = false;
        inputShut = true;
        outputShut = true;
        if (connecting != null) {
            connecting.tryFailure(new ClosedChannelException());
            connecting = null;
        }
        boolean unread = arrived.stream().anyMatch(ByteBuf.class::isInstance);
        arrived.stream().filter(ByteBuf.class::isInstance).forEach(bytes -> ((ByteBuf) bytes).release());
        arrived.clear();
        if (link != null) {
            if (unread || config.getSoLinger() == 0) {
                link.resetByBalancer();
            } else {
                link.finToPeer();
            }
        }
        network.closed(this);
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    // ---- what else a socket is asked

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new SimUnsafe();
    }

    private final class SimUnsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress to, SocketAddress from, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            connecting = promise;
            remote = (InetSocketAddress) to;
            network.connect(SimSocket.this, remote);
        }

        void flushAgain() {
            flush0();
        }
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimLoop;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        promise.setSuccess();
    }

    @Override
    protected void doBind(SocketAddress address) {
        local = (InetSocketAddress) address;
    }

    @Override
    public SocketChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && link != null;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    protected SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return remote;
    }

    @Override
    public boolean isInputShutdown() {
        return inputShut;
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShut;
    }

    @Override
    public boolean isShutdown() {
        return inputShut && outputShut;
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        inputShut = true;
        return promise.setSuccess();
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        inputShut = true;
        return shutdownOutput(promise);
    }

    private static final class SimConfig extends DefaultSocketChannelConfig {
        SimConfig(SimSocket socket, NoSocket options) {
            super(socket, options);
        }

        @Override
        protected void autoReadCleared() {
            ((SimSocket) channel).wantsRead = false;
        }
    }

    /** Keeps the options that a socket of the system would have. */
    private static final class NoSocket extends Socket {
        private int linger = -1;

        @Override
        public void setSoLinger(boolean on, int seconds) {
            linger = on ? seconds : -1;
        }

        @Override
        public int getSoLinger() {
            return linger;
        }

        @Override
        public void setTcpNoDelay(boolean on) {}

        @Override
        public void setKeepAlive(boolean on) {}
    }
}
