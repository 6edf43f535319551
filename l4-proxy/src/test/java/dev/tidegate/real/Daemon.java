package dev.tidegate.real;

import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A server program of the machine on a loopback address, ended when it is closed. */
final class Daemon implements AutoCloseable {
    /** Not the address that clients here come from, so that no client's port can be in a server's way. */
    private static final byte[] HOST = {127, 0, 0, 2};

    private static final Duration STOP_BOUND = Duration.ofSeconds(5);

    private final List<String> command;
    private final Process process;
    private final InetSocketAddress address;
    private final Path output;
    private final Path errors;

    private Daemon(List<String> command, Process process, InetSocketAddress address, Path output, Path errors) {
        this.command = command;
        this.process = process;
        this.address = address;
        this.output = output;
        this.errors = errors;
    }

    /** An address where nothing listens. */
    static InetSocketAddress freeAddress() throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(InetAddress.getByAddress(HOST), 0));
            return (InetSocketAddress) probe.getLocalSocketAddress();
        }
    }

    /** {@code HOST:PORT}. */
    static String hostPort(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    /**
     * Starts it in a directory, where its output goes too, and waits until it listens.
     *
     * @param address where its arguments make it listen
     */
    static Daemon start(InetSocketAddress address, Path directory, String name, String... arguments)
            throws IOException {
        List<String> command = Command.line(name, arguments);
        Path output = Files.createTempFile(directory, name, ".out");
        Path errors = Files.createTempFile(directory, name, ".err");
        // Its input stays open and empty: some servers take the end of it for a wish to stop.
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        Daemon daemon = new Daemon(command, process, address, output, errors);
        try {
            Await.until(command + " listens", () -> !process.isAlive() || daemon.listens());
            if (!process.isAlive()) {
                throw new AssertionError(command + " ended with " + process.exitValue());
            }
        } catch (AssertionError failed) {
            String said = daemon.said();
            daemon.close();
            throw new AssertionError(failed.getMessage() + "\n" + said, failed);
        }
        return daemon;
    }

    private boolean listens() {
        return Sockets.count(Sockets.State.LISTEN, entry -> entry.local().equals(address)) > 0;
    }

    /** An endpoint in the configuration's words. */
    String endpoint() {
        return "{address: \"" + hostPort(address) + "\"}";
    }

    /** Where its standard output goes. */
    Path output() {
        return output;
    }

    /** All that it has written so far. */
    String said() {
        try {
            return Files.readString(output, StandardCharsets.ISO_8859_1) + Files.readString(errors);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read what " + command + " said", e);
        }
    }

    /** Waits until it has ended by itself. */
    void awaitEnd() {
        Await.until(command + " ends by itself", () -> !process.isAlive());
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_BOUND.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
                throw new AssertionError(command + " does not stop\n" + said());
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
