package dev.tidegate.systemd;

import io.netty.channel.ChannelException;
import io.netty.channel.unix.Socket;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The UNIX datagram socket that {@code NOTIFY_SOCKET} names. The JDK has none of the kind; Netty's native library for epoll
 * does, and must have been loaded. The socket does not block: where the reader is behind, the kernel says so at once.
 */
final class DatagramWire implements Wire {
    private static final int MESSAGE_BYTES = 4096;

    private final String address;
    private final byte[] path;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MESSAGE_BYTES);
    private Socket socket; // null before the first message

    /** @param address a path, or {@code @} and a name in the abstract namespace */
    DatagramWire(String address) {
        this.address = address;
        // The kernel's form of an abstract name begins with a zero byte.
        String kernelForm = address.charAt(0) == '@' ? '\0' + address.substring(1) : address;
        path = kernelForm.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public boolean trySend(String message) throws IOException {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        buffer.clear();
        buffer.put(bytes, 0, Math.min(bytes.length, MESSAGE_BYTES));
        try {
            return socket().sendToDomainSocket(buffer, 0, buffer.position(), path) > 0;
        } catch (FileNotFoundException none) {
            throw new IOException("there is no " + address, none); // which Netty throws without a word
        }
    }

    private Socket socket() throws IOException {
        if (socket == null) {
            try {
                socket = Socket.newSocketDomainDgram();
            } catch (ChannelException none) {
                throw new IOException(none.getMessage(), none); // no descriptor left: there may be one later
            }
        }
        return socket;
    }

    @Override
    public void close() {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            throw new IllegalStateException("a descriptor that nobody else has cannot be closed", e);
        }
    }
}
