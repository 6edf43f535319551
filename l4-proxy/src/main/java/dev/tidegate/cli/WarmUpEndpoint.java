package dev.tidegate.cli;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** A connection at an endpoint of a warm-up: answers what a {@link WarmUpTalk} asks. Confined to its loop's thread. */
final class WarmUpEndpoint extends WarmUpPeer {
    private static final int FRAMES_BYTES = 1 << 10;

    private byte first = -1; // what it was asked first tells the talk
    private int newlines; // HTTP/1: of the empty line that ends a request
    private ByteBuffer frames; // HTTP/2: what is not a whole frame yet; null for another talk
    private int prefaceLeft = WarmUpTalk.PREFACE.length; // HTTP/2: bytes of it that are still to come

    WarmUpEndpoint(WarmUpLoop loop) {
        super(loop);
    }

    /** Takes the connection. */
    void accepted(SocketChannel mine) throws IOException {
        mine.setOption(StandardSocketOptions.TCP_NODELAY, true);
        register(mine, SelectionKey.OP_READ);
    }

    @Override
    void received(ByteBuffer bytes) throws IOException {
        if (first < 0) {
            first = bytes.get(bytes.position());
        }
        switch (first) {
            case 'G' -> answerHttp1(bytes);
            case 'P' -> answerHttp2(bytes);
            case WarmUpTalk.DOWNLOAD_BYTE -> writeBulk(WarmUpTalk.BULK_BYTES);
            case WarmUpTalk.UPLOAD_BYTE -> answerUpload(bytes);
            default -> {
                byte[] same = new byte[bytes.remaining()];
                bytes.get(same);
                write(same);
            }
        }
    }

    private void answerHttp1(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            byte next = bytes.get();
            newlines = next == '\n' ? newlines + 1 : next == '\r' ? newlines : 0;
            if (newlines == 2) {
                newlines = 0;
                write(WarmUpTalk.HTTP1_RESPONSE);
            }
        }
    }

    private void answerHttp2(ByteBuffer bytes) throws IOException {
        if (frames == null) {
            frames = ByteBuffer.allocate(FRAMES_BYTES);
            write(WarmUpTalk.frame(WarmUpTalk.SETTINGS, 0, 0));
        }
        int preface = Math.min(prefaceLeft, bytes.remaining());
        bytes.position(bytes.position() + preface);
        prefaceLeft -= preface;
        frames.put(bytes).flip();
        while (frames.remaining() >= WarmUpTalk.FRAME_HEAD_BYTES) {
            int at = frames.position();
            int length = ((frames.getShort(at) & 0xffff) << 8) | (frames.get(at + 2) & 0xff);
            if (frames.remaining() < WarmUpTalk.FRAME_HEAD_BYTES + length) {
                break;
            }
            answerFrame(frames.get(at + 3), frames.get(at + 4), frames.getInt(at + 5));
            frames.position(at + WarmUpTalk.FRAME_HEAD_BYTES + length);
        }
        frames.compact();
    }

    private void answerFrame(int type, int flags, int stream) throws IOException {
        if (type == WarmUpTalk.HEADERS) {
            write(WarmUpTalk.http2Response(stream));
        } else if (type == WarmUpTalk.SETTINGS && (flags & WarmUpTalk.ACK) == 0) {
            write(WarmUpTalk.frame(WarmUpTalk.SETTINGS, WarmUpTalk.ACK, 0));
        }
    }

    private void answerUpload(ByteBuffer bytes) throws IOException {
        if (bytes.get(bytes.limit() - 1) == WarmUpTalk.LAST) {
            write(new byte[] {WarmUpTalk.LAST});
        }
    }

    @Override
    void finished() {
        close();
    }

    /** By a client that resets on purpose, as the proxy passes it on; a fault shows at the client. */
    @Override
    void broken(IOException cause) {
        close();
    }
}
