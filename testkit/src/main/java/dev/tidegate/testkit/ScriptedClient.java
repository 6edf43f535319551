package dev.tidegate.testkit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * A client that does exactly what a test tells it, over a plain blocking socket.
 *
 * <pre>{@code
 * try (ScriptedClient client = ScriptedClient.connect(address)) {
 *     client.sendSeeded(7, 1 << 20);
 *     client.shutdownOutput();
 *     End end = client.readToEnd();
 *     assertEquals(End.Kind.FIN, end.kind());
 * }
 * }</pre>
 *
 * <p>Every call is bounded: see {@link Options#bound}.
 */
public final class ScriptedClient extends ScriptedPeer {
    private ScriptedClient(SocketChannel channel, Duration bound) throws IOException {
        super(channel, bound);
    }

    /** Connects with default options. */
    public static ScriptedClient connect(SocketAddress address) throws IOException {
        return connect(address, Options.DEFAULT);
    }

    /**
     * Connects.
     *
     * @throws java.net.ConnectException when it is refused
     * @throws PeerGoneException when it is accepted and reset before this returns
     * @throws AssertionError when it does not complete within the bound
     */
    public static ScriptedClient connect(SocketAddress address, Options options) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            if (options.receiveBufferBytes > 0) {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBufferBytes);
            }
            if (options.sendBufferBytes > 0) {
                channel.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBufferBytes);
            }
            if (!options.source.isBlank()) {
                channel.bind(new InetSocketAddress(options.source, 0));
            }
            channel.socket().connect(address, Math.toIntExact(options.bound.toMillis()));
            return new ScriptedClient(channel, options.bound);
        } catch (SocketTimeoutException e) {
            channel.close();
            throw new AssertionError(
                    "connect to " + address + " did not complete within " + Await.words(options.bound), e);
        } catch (SocketException e) {
            channel.close();
            if (String.valueOf(e.getMessage()).startsWith("Connection reset")) {
                PeerGoneException gone =
                        new PeerGoneException(Ending.RST, "connect to " + address + ": accepted, and reset at once");
                gone.initCause(e);
                throw gone;
            }
            throw e;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /**
     * How to connect.
     *
     * @param source the address to come from, such as {@code 127.0.0.9}; empty for the kernel's choice
     * @param receiveBufferBytes SO_RCVBUF, set before the connect; 0 for the kernel's choice
     * @param sendBufferBytes SO_SNDBUF; 0 for the kernel's choice
     * @param bound the longest standstill in any call, at least 1 ms
     */
    public record Options(String source, int receiveBufferBytes, int sendBufferBytes, Duration bound) {
        /** Nothing set, 10 s. */
        public static final Options DEFAULT = new Options("", 0, 0, Await.BOUND);

        /** Checks the bound. */
        public Options {
            if (bound.toMillis() < 1) {
                throw new IllegalArgumentException("bound " + bound + ": expected at least 1 ms");
            }
        }

        /** The same with another source address. */
        public Options fromSource(String newSource) {
            return new Options(newSource, receiveBufferBytes, sendBufferBytes, bound);
        }

        /** The same with another SO_RCVBUF. */
        public Options withReceiveBuffer(int bytes) {
            return new Options(source, bytes, sendBufferBytes, bound);
        }

        /** The same with another SO_SNDBUF. */
        public Options withSendBuffer(int bytes) {
            return new Options(source, receiveBufferBytes, bytes, bound);
        }

        /** The same with another bound. */
        public Options withBound(Duration newBound) {
            return new Options(source, receiveBufferBytes, sendBufferBytes, newBound);
        }
    }
}
