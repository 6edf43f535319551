package dev.tidegate.testkit;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The service manager's end of {@code NOTIFY_SOCKET}. Messages stay in the kernel's queue, which is short, until somebody
 * looks.
 *
 * <pre>{@code
 * try (NotifySocket manager = NotifySocket.at(directory.resolve("notify"))) {
 *     start(Map.of("NOTIFY_SOCKET", manager.address()));
 *     manager.await("READY=1");
 * }
 * }</pre>
 *
 * <p>Confined to the test's thread.
 */
public final class NotifySocket implements AutoCloseable {
    private static final int MESSAGE_BYTES = 8192;
    private static final Duration BOUND = Duration.ofSeconds(60);

    private final String address;
    private final Socket socket;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MESSAGE_BYTES);
    private final List<String> messages = new ArrayList<>();

    private NotifySocket(String address, String kernelForm) {
        Epoll.ensureAvailability(); // what the sockets are made with comes with it
        this.address = address;
        this.socket = Socket.newSocketDomainDgram();
        try {
            socket.bind(new DomainSocketAddress(kernelForm));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen on " + address, e);
        }
    }

    /** One with a path. */
    public static NotifySocket at(Path path) {
        return new NotifySocket(path.toString(), path.toString());
    }

    /** One with a name in the abstract namespace, which nobody else has. */
    public static NotifySocket inAbstract() {
        String name = "tidegate-test-" + UUID.randomUUID();
        return new NotifySocket("@" + name, '\0' + name);
    }

    /** What {@code NOTIFY_SOCKET} is to be. */
    public String address() {
        return address;
    }

    /** All messages so far, each with its lines, in their order. */
    public List<String> messages() {
        try {
            buffer.clear();
            for (int bytes = receive(); bytes > 0; bytes = receive()) {
                byte[] message = new byte[bytes];
                buffer.get(0, message);
                messages.add(new String(message, StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot receive on " + address, e);
        }
        return List.copyOf(messages);
    }

    private int receive() throws IOException {
        return socket.recv(buffer, 0, buffer.capacity());
    }

    /** Those that begin with that line. */
    public List<String> messages(String firstLine) {
        return messages().stream()
                .filter(message -> message.equals(firstLine) || message.startsWith(firstLine + "\n"))
                .toList();
    }

    /** Waits for the first message that contains the text. */
    public String await(String text) {
        return await(text, 0);
    }

    /** Waits for a message that contains the text, and is not one of the first {@code from}. */
    public String await(String text, int from) {
        Await.until(
                "a message with \"" + text + "\" after " + from + " others",
                BOUND,
                () -> messages().stream().skip(from).anyMatch(message -> message.contains(text)));
        return messages.stream()
                .skip(from)
                .filter(message -> message.contains(text))
                .findFirst()
                .orElseThrow();
    }

    /** The value that a message has for a name; empty when it has none. */
    public static String value(String message, String name) {
        return message.lines()
                .filter(line -> line.startsWith(name + "="))
                .map(line -> line.substring(name.length() + 1))
                .findFirst()
                .orElse("");
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close " + address, e);
        }
    }
}
