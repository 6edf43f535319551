package dev.tidegate.listener;

import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * A UNIX socket to ourselves that descriptors are passed over. What Netty (4.2.18) receives so it sets non-blocking, and
 * nothing else in Java does that for a descriptor that is open already. systemd passes blocking ones unless its unit says
 * otherwise, and a worker must never wait in accept.
 *
 * <p>Used by one thread.
 */
final class SelfPost implements AutoCloseable {
    private static final int SOL_SOCKET = 1;
    private static final int SO_COOKIE = 57;

    private final Socket out;
    private final Socket in;

    private SelfPost(Socket out, Socket in) {
        this.out = out;
        this.in = in;
    }

    /**
     * Opens it: in the abstract namespace, which needs no directory that can be written.
     *
     * @throws IOException when the system gives no sockets
     */
    static SelfPost open() throws IOException {
        DomainSocketAddress name = new DomainSocketAddress("\0tidegate-" + UUID.randomUUID());
        Socket server = Socket.newSocketDomain();
        try {
            server.bind(name);
            server.listen(1);
            Socket out = Socket.newSocketDomain();
            try {
                if (!out.connect(name)) {
                    throw new IOException("a UNIX socket to ourselves does not connect");
                }
                int accepted = server.accept(new byte[128]);
                if (accepted < 0) {
                    throw new IOException("a UNIX socket to ourselves is not accepted");
                }
                return new SelfPost(out, new Socket(accepted));
            } catch (IOException | RuntimeException e) {
                out.close();
                throw e;
            }
        } finally {
            server.close();
        }
    }

    /**
     * A duplicate of a descriptor, that is not blocking; nor is the one it was made from, since both are one open file.
     *
     * @throws IOException when it cannot be had
     */
    int nonBlocking(int fd) throws IOException {
        if (out.sendFd(fd) < 0) {
            throw new IOException("descriptor " + fd + " cannot be passed to ourselves");
        }
        int received = in.recvFd();
        if (received <= 0) {
            throw new IOException("descriptor " + fd + " did not come back from ourselves");
        }
        // Everyone on this machine can connect to an abstract socket; nobody can forge the kernel's cookie.
        if (cookie(received) != cookie(fd)) {
            new Socket(received).close();
            throw new IOException("descriptor " + fd + " came back as another");
        }
        return received;
    }

    private static long cookie(int fd) throws IOException {
        ByteBuffer cookie = ByteBuffer.allocateDirect(Long.BYTES);
        new Socket(fd).getRawOpt(SOL_SOCKET, SO_COOKIE, cookie);
        return cookie.getLong(0);
    }

    @Override
    public void close() throws IOException {
        try {
            out.close();
        } finally {
            in.close();
        }
    }
}
