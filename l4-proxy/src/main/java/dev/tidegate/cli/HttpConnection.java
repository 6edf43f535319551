package dev.tidegate.cli;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * One HTTP/1.1 exchange on a connection of its own (RFC 9112). The JDK's client knows no UNIX sockets, and Netty takes longer
 * to load than a command takes to run. For one thread, save that any may close it.
 */
final class HttpConnection implements Closeable {
    private static final int HEAD_BYTES_MAX = 64 * 1024;

    private final ApiAddress address;
    private final Optional<SSLSocketFactory> tls;
    private final Closeable plain; // known before the connect, so that a time limit can end that too
    private InputStream in;
    private OutputStream out;

    /** @param tls trusts the server; present if the address is one of TLS */
    HttpConnection(ApiAddress address, Optional<SSLSocketFactory> tls) throws IOException {
        this.address = address;
        this.tls = tls;
        this.plain =
                address instanceof ApiAddress.Unix ? SocketChannel.open(StandardProtocolFamily.UNIX) : new Socket();
    }

    /** Thrown for what is not HTTP. */
    static final class NotHttpException extends IOException {
        private static final long serialVersionUID = 1;

        NotHttpException(String message) {
            super(message);
        }
    }

    /**
     * The head of an answer.
     *
     * @param status of it
     * @param reason in words
     * @param headers by name in small letters; of several with one name, the last
     * @param body its bytes as they come, framing taken off
     */
    record Answer(int status, String reason, Map<String, String> headers, InputStream body) {
        String header(String name) {
            return headers.getOrDefault(name, "");
        }
    }

    /**
     * Connects; ended by {@link #close}.
     *
     * @param sendsSecret whether a token will be sent: then no plain connection may leave this machine
     */
    void connect(boolean sendsSecret) throws IOException {
        if (address instanceof ApiAddress.Unix unix) {
            SocketChannel channel = (SocketChannel) plain;
            channel.connect(UnixDomainSocketAddress.of(unix.path()));
            in = new BufferedInputStream(Channels.newInputStream(channel));
            out = Channels.newOutputStream(channel);
            return;
        }
        ApiAddress.Http http = (ApiAddress.Http) address;
        InetAddress host = InetAddress.getByName(http.host());
        if (sendsSecret && !http.tls() && !host.isLoopbackAddress()) {
            throw new IOException("the token would leave this machine for all to read; use https");
        }
        Socket socket = (Socket) plain;
        socket.connect(new InetSocketAddress(host, http.port()));
        if (http.tls()) {
            socket = secured(socket, http);
        }
        in = new BufferedInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    private Socket secured(Socket socket, ApiAddress.Http http) throws IOException {
        SSLSocket secure = (SSLSocket) tls.orElseThrow().createSocket(socket, http.host(), http.port(), true);
        SSLParameters parameters = secure.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secure.setSSLParameters(parameters);
        secure.startHandshake();
        return secure;
    }

    /**
     * Sends a request and reads the head of its answer.
     *
     * @param headers beside those that every request has
     * @param body null for none
     */
    Answer exchange(String method, String target, Map<String, String> headers, byte[] body) throws IOException {
        StringBuilder head =
                new StringBuilder(method).append(' ').append(target).append(" HTTP/1.1\r\n");
        Map<String, String> all = new LinkedHashMap<>();
        all.put("Host", address instanceof ApiAddress.Http http ? http.authority() : "localhost");
        all.put("User-Agent", "tidegate/" + VersionCommand.version());
        all.put("Connection", "close");
        all.putAll(headers);
        if (body != null) {
            all.put("Content-Type", "application/json");
            all.put("Content-Length", String.valueOf(body.length));
        }
        all.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.write(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        if (body != null) {
            request.write(body);
        }
        IOException unsent = null;
        try {
            out.write(request.toByteArray());
            out.flush();
        } catch (IOException e) {
            unsent = e; // a server that refuses early may have answered all the same
        }
        try {
            return answer();
        } catch (IOException e) {
            if (unsent != null) {
                e.addSuppressed(unsent);
            }
            throw e;
        }
    }

    private Answer answer() throws IOException {
        int[] left = {HEAD_BYTES_MAX};
        String status = line(left);
        String[] words = status.split(" ", 3);
        if (words.length < 2 || !words[0].startsWith("HTTP/1.") || !words[1].matches("[1-9][0-9][0-9]")) {
            throw new NotHttpException("it answers, but not in HTTP/1");
        }
        Map<String, String> headers = new LinkedHashMap<>();
        for (String line = line(left); !line.isEmpty(); line = line(left)) {
            int colon = line.indexOf(':');
            if (colon < 1) {
                throw new NotHttpException("its answer has a header line without a name");
            }
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        int code = Integer.parseInt(words[1]);
        if (code < 200) {
            return answer(); // not yet the final one
        }
        return new Answer(code, words.length > 2 ? words[2] : "", headers, body(code, headers));
    }

    private InputStream body(int status, Map<String, String> headers) throws IOException {
        if (headers.getOrDefault("transfer-encoding", "").equalsIgnoreCase("chunked")) {
            return new Chunks();
        }
        if (status == 204 || status == 304) {
            return InputStream.nullInputStream();
        }
        String length = headers.get("content-length");
        if (length == null) {
            return in;
        }
        if (!length.matches("[0-9]{1,18}")) {
            throw new NotHttpException("its answer has a content-length that is no number");
        }
        return new Counted(Long.parseLong(length));
    }

    private String line(int[] left) throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            int b = in.read();
            if (b < 0) {
                throw new EOFException("it ended the connection before its answer was whole");
            }
            if (--left[0] < 0) {
                throw new NotHttpException("the head of its answer is longer than " + HEAD_BYTES_MAX + " bytes");
            }
            if (b == '\n') {
                int end =
                        line.length() > 0 && line.charAt(line.length() - 1) == '\r' ? line.length() - 1 : line.length();
                return line.substring(0, end);
            }
            line.append((char) b);
        }
    }

    /** Bytes of which it is known how many are to come; an end before that is an error. */
    private class Counted extends InputStream {
        private long left;

        Counted(long left) {
            this.left = left;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (left == 0) {
                left = next();
            }
            if (left == 0) {
                return -1;
            }
            int read = in.read(to, offset, (int) Math.min(length, left));
            if (read < 0) {
                throw new EOFException("it ended the connection before its answer was whole");
            }
            left -= read;
            return read;
        }

        /** How many bytes come after these; 0 for no more. */
        long next() throws IOException {
            return 0;
        }
    }

    /** Bytes in chunks, each with its length before it. */
    private final class Chunks extends Counted {
        private boolean first = true;
        private boolean ended;

        Chunks() {
            super(0);
        }

        @Override
        long next() throws IOException {
            if (ended) {
                return 0;
            }
            int[] left = {HEAD_BYTES_MAX};
            if (!first && !line(left).isEmpty()) {
                throw new NotHttpException("a chunk of its answer is longer than it says");
            }
            first = false;
            String size = line(left).split(";", 2)[0].strip();
            if (!size.matches("[0-9A-Fa-f]{1,15}")) {
                throw new NotHttpException("a chunk of its answer has a length that is no number");
            }
            long bytes = Long.parseLong(size, 16);
            if (bytes == 0) {
                ended = true;
                String trailer; // trailers say nothing that is wanted here
                do {
                    trailer = line(left);
                } while (!trailer.isEmpty());
            }
            return bytes;
        }
    }

    @Override
    public void close() throws IOException {
        plain.close();
    }
}
