package dev.tidegate.admin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A client that sends what it is told to, byte by byte if need be. */
final class RawClient implements AutoCloseable {
    private static final int BOUND_MILLIS = 10_000;

    private final Socket socket = new Socket();

    RawClient(InetSocketAddress address) throws IOException {
        socket.setSoTimeout(BOUND_MILLIS);
        socket.connect(address, BOUND_MILLIS);
    }

    /** One request on a connection of its own; what comes back until the end. */
    static String ask(InetSocketAddress address, String request) throws IOException {
        try (RawClient client = new RawClient(address)) {
            client.send(request);
            return client.readToEnd();
        }
    }

    void send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Everything until the server's FIN; fails when there is none in time, or a reset. */
    String readToEnd() throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    /** Reads until that text has come. */
    String readUntil(String end) throws IOException {
        InputStream in = socket.getInputStream();
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        int b;
        while ((b = in.read()) >= 0) {
            seen.write(b);
            if (seen.toString(StandardCharsets.ISO_8859_1).endsWith(end)) {
                return seen.toString(StandardCharsets.ISO_8859_1);
            }
        }
        throw new IOException("ended before \"" + end + "\": " + seen);
    }

    /** Reads quickly until that text has come, and keeps nothing. */
    void readThrough(String end) throws IOException {
        InputStream in = socket.getInputStream();
        byte[] wanted = end.getBytes(StandardCharsets.ISO_8859_1);
        byte[] buffer = new byte[64 * 1024];
        String tail = "";
        while (!tail.contains(end)) {
            int count = in.read(buffer);
            if (count < 0) {
                throw new IOException("ended before \"" + end + "\"");
            }
            String all = tail + new String(buffer, 0, count, StandardCharsets.ISO_8859_1);
            tail = all.contains(end) ? end : all.substring(Math.max(0, all.length() - wanted.length));
        }
    }

    /** Whether the server has ended the connection, once all is read. Waits for it, bounded. */
    boolean isEndedAfterWhatIsLeft() {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Whether the server has ended the connection, by FIN or reset. Waits for it, bounded. */
    boolean isEnded() {
        try {
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
