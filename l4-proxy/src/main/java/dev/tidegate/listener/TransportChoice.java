package dev.tidegate.listener;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.uring.IoUring;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which transport the process uses, and why. Immutable.
 *
 * @param transport the one chosen
 * @param reason for the log, in words
 */
public record TransportChoice(Transport transport, String reason) {
    private static final String MULTISHOT_RECEIVE = "io.netty.iouring.recvMultiShotEnabled";

    static {
        // A multishot receive of a socket that always has bytes goes on whether reading is paused or not: the kernel
        // does not find it to cancel it, and Netty (4.2.18) arms it anew when it has ended. What a stalled reader
        // leaves behind would pile up without bound. Must be said before Netty's IoUring is loaded.
        if (System.getProperty(MULTISHOT_RECEIVE) == null) {
            System.setProperty(MULTISHOT_RECEIVE, "false");
        }
    }

    /** What may be asked for. */
    public enum Wish {
        /** The first that is available: epoll, then io_uring, then nio. */
        AUTO,
        /** io_uring or nothing. */
        IO_URING,
        /** epoll or nothing. */
        EPOLL,
        /** nio. */
        NIO
    }

    /** A transport that was asked for by name cannot be had here. */
    public static final class UnavailableException extends Exception {
        private static final long serialVersionUID = 1;

        UnavailableException(String message) {
            super(message);
        }
    }

    /**
     * Chooses.
     *
     * @throws UnavailableException when one was asked for that cannot be had; its message is one plain line
     */
    public static TransportChoice choose(Wish wish) throws UnavailableException {
        return choose(wish, "");
    }

    /**
     * Chooses, for a process that may have to take sockets that are open already, which only epoll can.
     *
     * @param sockets where such sockets come from, in words; empty when there are none
     * @throws UnavailableException when one was asked for that cannot be had; its message is one plain line
     */
    public static TransportChoice choose(Wish wish, String sockets) throws UnavailableException {
        if (wish == Wish.AUTO && !sockets.isEmpty() && epollFault() == null) {
            return new TransportChoice(new EpollTransport(), "auto: " + sockets);
        }
        return switch (wish) {
            case AUTO -> automatic();
            case IO_URING -> asked("io_uring", ioUringFault(), ioUring());
            case EPOLL -> asked("epoll", epollFault(), new EpollTransport());
            case NIO -> new TransportChoice(new NioTransport(), "asked for");
        };
    }

    /** See docs/decisions for why epoll comes before io_uring. */
    private static TransportChoice automatic() {
        List<String> misses = new ArrayList<>();
        String fault = epollFault();
        if (fault == null) {
            return new TransportChoice(new EpollTransport(), "auto: epoll is available");
        }
        misses.add("no epoll: " + fault);
        fault = ioUringFault();
        if (fault == null) {
            return new TransportChoice(ioUring(), "auto: " + String.join("; ", misses));
        }
        misses.add("no io_uring: " + fault);
        return new TransportChoice(new NioTransport(), "auto: " + String.join("; ", misses));
    }

    /** What an event loop does I/O with by epoll, whichever transport was chosen; empty where epoll cannot be had. */
    public static Optional<IoHandlerFactory> epollHandlers() {
        return epollFault() == null ? Optional.of(new EpollTransport().ioHandlers()) : Optional.empty();
    }

    /** Without the ring of buffers when reading from it could not be stopped. */
    private static Transport ioUring() {
        return new IoUringTransport(
                IoUring.isAvailable() && IoUring.isRegisterBufferRingSupported() && !IoUring.isRecvMultishotEnabled());
    }

    private static TransportChoice asked(String name, String fault, Transport transport) throws UnavailableException {
        if (fault != null) {
            throw new UnavailableException("process.transport: \"" + name + "\" is not available here: " + fault
                    + "; \"auto\" takes the best that is");
        }
        return new TransportChoice(transport, "asked for");
    }

    private static String epollFault() {
        return fault(Epoll.unavailabilityCause());
    }

    private static String ioUringFault() {
        return fault(IoUring.unavailabilityCause());
    }

    /** One line of the innermost cause; null when there is none. */
    private static String fault(Throwable cause) {
        if (cause == null) {
            return null;
        }
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String message = root.getMessage();
        return (message == null ? root.getClass().getSimpleName() : message)
                .lines()
                .findFirst()
                .orElse("unknown");
    }
}
