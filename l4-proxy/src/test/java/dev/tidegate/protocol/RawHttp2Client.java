package dev.tidegate.protocol;

import dev.tidegate.testkit.Await;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** A client that writes the frames that a test tells it to, heeds nothing, and remembers every frame that it reads. */
final class RawHttp2Client implements AutoCloseable {
    /**
     * A frame that came.
     *
     * @param payload not to be written to
     */
    record Frame(int type, int flags, int id, ByteBuffer payload) {
        /** Of a GOAWAY: the last stream id. */
        int lastId() {
            return payload.getInt(0);
        }

        /** Of a PING: its answer. */
        byte[] ack() {
            return Http2Bytes.ping(Http2Bytes.ACK, payload.getLong(0));
        }
    }

    /** How its reading ended. */
    enum End {
        NOT,
        FIN,
        RST
    }

    private final Socket socket;
    private final boolean answersPings;
    private final Thread reader = new Thread(this::read, "raw-http2-client");
    private final List<Frame> frames = new CopyOnWriteArrayList<>();
    private volatile End end = End.NOT; // writer: the reader
    private int nextId = 1;

    private RawHttp2Client(InetSocketAddress address, boolean answersPings) throws IOException {
        this.answersPings = answersPings;
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setTcpNoDelay(true);
        reader.start();
    }

    /**
     * Connects, and sends the preface and its SETTINGS.
     *
     * @param answersPings whether it acknowledges the PINGs that it gets
     */
    static RawHttp2Client connect(InetSocketAddress address, boolean answersPings) throws IOException {
        RawHttp2Client client = new RawHttp2Client(address, answersPings);
        client.send(Http2Bytes.PREFACE, Http2Bytes.settings(0));
        return client;
    }

    /**
     * Sends bytes.
     *
     * @throws IOException when the connection has ended, as far as it has read
     */
    void send(byte[]... parts) throws IOException {
        if (end != End.NOT) {
            throw new EOFException("the connection has ended");
        }
        byte[] bytes = Http2Bytes.join(parts);
        synchronized (socket) {
            socket.getOutputStream().write(bytes);
        }
    }

    /** The next stream's id. */
    int nextId() {
        int id = nextId;
        nextId += 2;
        return id;
    }

    /** The id of the stream that was opened last. */
    int lastId() {
        return nextId - 2;
    }

    /** Opens a stream with a request that is whole. */
    void open() throws IOException {
        send(Http2Bytes.request(nextId(), Http2Bytes.END_STREAM));
    }

    /**
     * Opens a stream again and again until the connection has ended.
     *
     * @return how many
     */
    int openUntilEnded(Duration every, int most) {
        int opened = 0;
        try {
            for (long due = System.nanoTime(); end == End.NOT && opened < most; due += every.toNanos()) {
                while (due - System.nanoTime() > 0) {
                    LockSupport.parkNanos(due - System.nanoTime());
                }
                open();
                opened++;
            }
        } catch (IOException ended) {
            nextId -= 2; // that one was not sent
        }
        return opened;
    }

    private void read() {
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                int head = in.readInt();
                int type = head & 0xff;
                int flags = in.readUnsignedByte();
                int id = in.readInt();
                byte[] payload = new byte[head >>> Byte.SIZE];
                in.readFully(payload);
                Frame frame = new Frame(type, flags, id, ByteBuffer.wrap(payload));
                frames.add(frame);
                if (type == Http2Bytes.PING && flags == Http2Bytes.NONE && answersPings) {
                    send(frame.ack());
                }
            }
        } catch (EOFException fin) {
            end = End.FIN;
        } catch (IOException rst) {
            end = End.RST;
        }
    }

    /** The frames of that type that have come so far. */
    List<Frame> frames(int type) {
        return frames.stream().filter(frame -> frame.type() == type).toList();
    }

    /** The last stream ids of all GOAWAYs so far. */
    List<Integer> goaways() {
        return frames(Http2Bytes.GOAWAY).stream().map(Frame::lastId).toList();
    }

    Frame awaitFrame(int type, int index) {
        Await.until("frame " + index + " of type " + type, () -> frames(type).size() > index);
        return frames(type).get(index);
    }

    End awaitEnd() {
        Await.until("the connection's end", Duration.ofSeconds(30), () -> end != End.NOT);
        return end;
    }

    /** Closes its side. */
    void leave() throws IOException {
        socket.close();
    }

    @Override
    public void close() {
        try {
            leave();
            reader.join(5_000);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
