package dev.tidegate.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** A client of a warm-up, from connect to its end. Confined to its loop's thread. */
final class WarmUpClient extends WarmUpPeer {
    /** Behind a listener where connections come to a limit, so many answers are the last. */
    static final int SHORT_ROUNDS = 3;

    private final WarmUpTalk talk;
    private final int rounds;
    private final boolean isRetired;
    private final End end;
    private int answers;
    private boolean over;

    /** How it leaves. */
    private enum End {
        /** It finishes, and waits for the other side to. */
        FIN,
        /** It closes its socket. */
        CLOSE,
        /** It resets the connection. */
        RESET,
        /** It waits for the proxy to end the connection. */
        RETIRED
    }

    /**
     * Not open yet.
     *
     * @param isRetired whether the proxy ends the connection at its third request
     * @param index of all clients there were; decides how it leaves
     */
    WarmUpClient(WarmUpLoop loop, WarmUpTalk talk, boolean isRetired, int index) {
        super(loop);
        this.talk = talk;
        this.isRetired = isRetired && talk.rounds() >= SHORT_ROUNDS;
        this.rounds = this.isRetired ? SHORT_ROUNDS : talk.rounds();
        this.end = end(index);
    }

    private End end(int index) {
        if (isRetired && talk != WarmUpTalk.HTTP2) {
            return End.RETIRED;
        }
        return switch (index % 16) {
            case 5, 11 -> End.CLOSE;
            case 7 -> End.RESET;
            default -> End.FIN;
        };
    }

    /** Connects. */
    void open(InetSocketAddress address) {
        loop().clientOpened();
        try {
            SocketChannel mine = SocketChannel.open();
            register(mine, SelectionKey.OP_CONNECT);
            mine.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (mine.connect(address)) {
                connected();
            }
        } catch (IOException failed) {
            broken(failed);
        }
    }

    @Override
    void ready(SelectionKey ready) throws IOException {
        if (ready.isConnectable()) {
            channel().finishConnect();
            connected();
        } else {
            super.ready(ready);
        }
    }

    private void connected() throws IOException {
        interest(SelectionKey.OP_READ);
        ask();
    }

    private void ask() throws IOException {
        write(talk.request(answers));
        if (talk == WarmUpTalk.UPLOAD) {
            writeBulk(WarmUpTalk.BULK_BYTES);
        }
    }

    @Override
    void received(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining() && !over) {
            if (bytes.get() == WarmUpTalk.LAST) {
                answers++;
                loop().answered();
                if (answers < rounds) {
                    ask();
                } else if (answers == rounds) {
                    leave();
                }
            }
        }
    }

    private void leave() throws IOException {
        if (end == End.CLOSE || end == End.RESET) {
            loop().ended(false);
        }
        switch (end) {
            case FIN -> channel().shutdownOutput();
            case CLOSE -> close();
            case RESET -> {
                channel().setOption(StandardSocketOptions.SO_LINGER, 0);
                close();
            }
            case RETIRED -> {}
        }
    }

    @Override
    void finished() {
        if (answers >= rounds) {
            loop().ended(end == End.RETIRED);
        } else {
            loop().failed(new IOException(talk + " ended after " + answers + " of " + rounds + " answers"));
        }
        close();
    }

    @Override
    void broken(IOException cause) {
        if (!over) {
            loop().failed(cause);
        }
        close();
    }

    @Override
    void close() {
        if (!over) {
            over = true;
            loop().clientClosed();
        }
        super.close();
    }
}
