package dev.tidegate.cli;

import dev.tidegate.testkit.Tool;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What systemd does for a service with a socket unit: keeps listening sockets open, whatever becomes of the process, and
 * passes them to each process that is started in turn. The sockets are blocking ones, as systemd's are.
 */
final class PassedSockets implements AutoCloseable {
    /** Opens the sockets it is told to, tells where they are, and gives them to whoever connects. */
    private static final String HOLDER = """
            import os, socket, sys
            held = []
            for spec in sys.argv[2:]:
                family, kind, where = spec.split(",", 2)
                unix = family == "AF_UNIX"
                s = socket.socket(getattr(socket, family), getattr(socket, kind))
                if family == "AF_INET6":
                    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                s.bind(where if unix else (where, 0))
                if kind == "SOCK_STREAM":
                    s.listen(4096)
                held.append(s)
                print("-" if unix else s.getsockname()[1], flush=True)
            post = socket.socket(socket.AF_UNIX)
            post.bind(sys.argv[1])
            post.listen(16)
            print("ready", flush=True)
            while True:
                peer, _ = post.accept()
                socket.send_fds(peer, [b"x"], [s.fileno() for s in held])
                peer.close()
            """;

    /** Fetches the sockets, puts them where systemd does, and becomes the process they are for. */
    private static final String STARTER = """
            import os, socket, sys
            post, names, pid = sys.argv[1:4]
            s = socket.socket(socket.AF_UNIX)
            s.connect(post)
            _, fds, _, _ = socket.recv_fds(s, 1, 64)
            s.close()
            high = [os.dup2(fd, 200 + i) for i, fd in enumerate(fds)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i)
                os.set_inheritable(3 + i, True)
                os.close(fd)
            os.environ["LISTEN_FDS"] = str(len(fds))
            os.environ["LISTEN_FDNAMES"] = names
            os.environ["LISTEN_PID"] = str(os.getpid()) if pid == "own" else pid
            os.execvp(sys.argv[4], sys.argv[4:])
            """;

    private final Process holder;
    private final Path post;
    private final List<String> names = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();

    private PassedSockets(Process holder, Path post) {
        this.holder = holder;
        this.post = post;
    }

    /**
     * Opens them.
     *
     * @param directory for a socket of its own
     * @param sockets {@code NAME=FAMILY,TYPE,WHERE}: {@code web=AF_INET,SOCK_STREAM,127.0.0.1}
     */
    static PassedSockets open(Path directory, String... sockets) throws IOException {
        Path post = directory.resolve("post.sock");
        List<String> command =
                new ArrayList<>(List.of(Tool.require("python3").path().toString(), "-c", HOLDER, post.toString()));
        for (String socket : sockets) {
            command.add(socket.substring(socket.indexOf('=') + 1));
        }
        PassedSockets opened = new PassedSockets(
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start(),
                post);
        // Not closed: the holder may have more to say.
        BufferedReader out = opened.holder.inputReader(StandardCharsets.UTF_8);
        for (String socket : sockets) {
            opened.names.add(socket.substring(0, socket.indexOf('=')));
            String port = out.readLine();
            if (port == null) {
                throw new AssertionError("the sockets could not be opened: " + List.of(sockets));
            }
            opened.ports.add(port.equals("-") ? -1 : Integer.parseInt(port));
        }
        if (!"ready".equals(out.readLine())) {
            throw new AssertionError("the sockets cannot be given away");
        }
        return opened;
    }

    /** What is to stand before the command of a process that gets them. */
    List<String> starter() {
        return starter("own");
    }

    /** The same, but meant for the process with that id. */
    List<String> starter(String pid) {
        return List.of(
                Tool.require("python3").path().toString(),
                "-c",
                STARTER,
                post.toString(),
                String.join(":", names),
                pid);
    }

    /** Where one of them listens, on that address. */
    InetSocketAddress at(int index, String host) {
        return new InetSocketAddress(host, ports.get(index));
    }

    @Override
    public void close() throws IOException {
        holder.destroyForcibly();
        try {
            if (!holder.waitFor(10, TimeUnit.SECONDS)) {
                throw new IOException("the holder of the sockets does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
