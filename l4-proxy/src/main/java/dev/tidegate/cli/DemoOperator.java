package dev.tidegate.cli;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The demo's operator: writes to the admin API over its UNIX socket, one request after the other, as anyone could with curl.
 *
 * <p>Asked by any thread; talks on {@code tidegate-demo-operator}.
 */
final class DemoOperator implements AutoCloseable {
    private static final int STATUS_AT = "HTTP/1.1 ".length();

    private final Path socket;
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(new DefaultThreadFactory("tidegate-demo-operator", true));
    private volatile String trouble; // null while there is none; writer: the operator's thread

    DemoOperator(Path socket) {
        this.socket = socket;
    }

    /** Has that done soon. The body is JSON; empty for none. */
    void post(String method, String path, String body) {
        thread.execute(() -> {
            try {
                trouble = refusal(method + " " + path, ask(method, path, body));
            } catch (IOException failed) {
                trouble = method + " " + path + " failed: " + failed.getMessage();
            }
        });
    }

    /** Why the last request was not done, in words; null when it was. */
    String trouble() {
        return trouble;
    }

    private static String refusal(String request, String answer) {
        boolean done = answer.length() > STATUS_AT && answer.charAt(STATUS_AT) == '2';
        return done
                ? null
                : request + " was refused: " + answer.lines().findFirst().orElse("no answer");
    }

    private String ask(String method, String path, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        String head = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + (bytes.length == 0
                        ? ""
                        : "Content-Type: application/json\r\nContent-Length: " + bytes.length + "\r\n")
                + "\r\n";
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            write(channel, head.getBytes(StandardCharsets.US_ASCII));
            write(channel, bytes);
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void write(SocketChannel channel, byte[] bytes) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        while (rest.hasRemaining()) {
            channel.write(rest);
        }
    }

    /** Takes no more requests, and waits for none. */
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
