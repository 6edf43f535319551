package dev.tidegate.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * The endpoint's side of a connection; its first byte says what it is to be: an echo, a source or a sink. Confined to the
 * load loop.
 */
final class BackendConnection implements LoadPeer {
    /** First byte of a connection that wants its bytes back. */
    static final byte ECHO = 'E';
    /** First byte of a connection that sends HTTP/1 requests, each as long as a message. */
    static final byte HTTP = 'G';
    /** First byte of a connection that wants a stream until it sends another byte. */
    static final byte DOWNLOAD = 'D';
    /** First byte of a connection that sends a stream and wants to know, in eight bytes, how long it was. */
    static final byte UPLOAD = 'U';
    /** What stops a {@link #DOWNLOAD}. */
    static final byte STOP = 'S';

    private static final int CALLS_PER_TURN = 4;

    private final LoadLoop loop;
    private final SocketChannel channel;
    private SelectionKey key;
    private byte kind;
    private boolean stopped;
    /** What the socket did not take; null when it took all. */
    private ByteBuffer unsent;

    private long receivedBytes;

    BackendConnection(LoadLoop loop, SocketChannel channel) {
        this.loop = loop;
        this.channel = channel;
    }

    void register() throws IOException {
        key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
    }

    @Override
    public void onReady(SelectionKey ready) throws IOException {
        if (ready.isReadable()) {
            onReadable();
        }
        if (key.isValid() && key.isWritable()) {
            onWritable();
        }
    }

    @Override
    public void onFailure(IOException cause) {
        // Counted by the client, which sees the same connection break.
        loop.close(channel);
    }

    private void onReadable() throws IOException {
        for (int i = 0; i < CALLS_PER_TURN; i++) {
            ByteBuffer buffer = loop.scratch();
            int read = channel.read(buffer);
            if (read < 0) {
                onEnd();
                return;
            }
            if (read == 0) {
                return;
            }
            receivedBytes += read;
            boolean wasFull = !buffer.hasRemaining();
            onBytes(buffer.flip());
            if (!wasFull || unsent != null) {
                return;
            }
        }
    }

    private void onBytes(ByteBuffer bytes) throws IOException {
        if (kind == 0) {
            kind = bytes.get(0);
            if (kind == DOWNLOAD) {
                bytes.get();
                want(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            }
        }
        switch (kind) {
            case ECHO -> {
                loop.echoed(bytes.remaining());
                channel.write(bytes);
                if (bytes.hasRemaining()) {
                    unsent = ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
                    want(SelectionKey.OP_WRITE);
                }
            }
            case DOWNLOAD -> {
                if (bytes.hasRemaining()) {
                    stopped = true;
                }
            }
            case HTTP -> answer(bytes.remaining());
            case UPLOAD -> loop.sunk(bytes.remaining());
            default -> throw new IOException("a connection began with the unknown byte " + kind);
        }
    }

    /** A response for each request that is whole now. */
    private void answer(int justReceived) throws IOException {
        loop.echoed(justReceived);
        long whole = receivedBytes / LoadLoop.MESSAGE_BYTES - (receivedBytes - justReceived) / LoadLoop.MESSAGE_BYTES;
        while (whole > 0) {
            int now = (int) Math.min(whole, LoadLoop.HTTP_RESPONSES_MAX);
            ByteBuffer responses = loop.httpResponses(now);
            channel.write(responses);
            if (responses.hasRemaining()) {
                throw new IOException("a client that waits for each response does not read them");
            }
            whole -= now;
        }
    }

    private void onWritable() throws IOException {
        if (unsent != null) {
            channel.write(unsent);
            if (unsent.hasRemaining()) {
                return;
            }
            unsent = null;
            if (kind == ECHO) {
                want(SelectionKey.OP_READ);
                return;
            }
        }
        for (int i = 0; i < CALLS_PER_TURN && !stopped; i++) {
            ByteBuffer bulk = loop.bulk();
            loop.streamed(channel.write(bulk));
            if (bulk.hasRemaining()) {
                return;
            }
        }
        if (stopped) {
            loop.close(channel);
        }
    }

    private void onEnd() throws IOException {
        if (kind == UPLOAD) {
            ByteBuffer receipt =
                    ByteBuffer.allocate(Long.BYTES).putLong(receivedBytes).flip();
            if (channel.write(receipt) != Long.BYTES) {
                throw new IOException("the socket took no receipt");
            }
        }
        loop.close(channel);
    }

    private void want(int interest) {
        key.interestOps(interest);
    }
}
