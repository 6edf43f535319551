package dev.tidegate.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** One connection of the load, from connect to its end. Confined to the load loop. */
abstract class LoadClient implements LoadPeer {
    private final LoadLoop loop;
    private final LoadRun run;
    private SocketChannel channel;
    private SelectionKey key;
    private boolean connected;
    private boolean done = true;

    LoadClient(LoadLoop loop, LoadRun run) {
        this.loop = loop;
        this.run = run;
    }

    /** Connects to the run's target; what goes wrong is counted there. */
    final void open() {
        done = false;
        connected = false;
        run.opened();
        try {
            channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            InetSocketAddress source = loop.nextSource(run.spec().sources());
            if (source != null) {
                channel.bind(source);
            }
            if (channel.connect(run.spec().target())) {
                key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
                connected = true;
                onConnected();
            } else {
                key = channel.register(loop.selector(), SelectionKey.OP_CONNECT, this);
            }
        } catch (IOException e) {
            onFailure(e);
        }
    }

    @Override
    public final void onReady(SelectionKey ready) throws IOException {
        if (ready.isConnectable()) {
            channel.finishConnect();
            key.interestOps(SelectionKey.OP_READ);
            connected = true;
            onConnected();
            return;
        }
        if (ready.isReadable()) {
            onReadable();
        }
        // Meanwhile this may be another connection, with another key.
        if (ready.isValid() && ready.isWritable()) {
            onWritable();
        }
    }

    @Override
    public final void onFailure(IOException cause) {
        if (!done) {
            run.failed(
                    run.spec().scenario().word() + (connected ? " connection broke: " : " connect failed: ") + cause);
            finish();
        }
    }

    /** The run stops: end when what is under way has ended. */
    abstract void onStop() throws IOException;

    abstract void onConnected() throws IOException;

    abstract void onReadable() throws IOException;

    abstract void onWritable() throws IOException;

    /** Closes the connection; a second call does nothing. */
    final void finish() {
        if (done) {
            return;
        }
        done = true;
        run.closed();
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            run.failed("close failed: " + e);
        }
    }

    final boolean isDone() {
        return done;
    }

    final boolean isConnected() {
        return connected;
    }

    final LoadRun run() {
        return run;
    }

    final LoadLoop loop() {
        return loop;
    }

    final int read(ByteBuffer buffer) throws IOException {
        return channel.read(buffer);
    }

    final int write(ByteBuffer buffer) throws IOException {
        return channel.write(buffer);
    }

    final void sendFin() throws IOException {
        channel.shutdownOutput();
    }

    final void wantWrite(boolean wanted) {
        int interest = wanted ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
        if (key.interestOps() != interest) {
            key.interestOps(interest);
        }
    }
}
