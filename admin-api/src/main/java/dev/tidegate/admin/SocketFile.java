package dev.tidegate.admin;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** What is done to a UNIX socket's file around the bind. */
final class SocketFile {
    /** As in stat(2). */
    private static final int TYPE_MASK = 0xf000;

    private static final int TYPE_SOCKET = 0xc000;

    private SocketFile() {}

    /**
     * Makes way: creates the directory if it is missing, removes a socket file that nobody listens on.
     *
     * @throws IOException when something lives there, or is no socket
     */
    static void prepare(Path path) throws IOException {
        Path directory = path.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            create(directory, path);
        }
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!isSocket(path)) {
            throw new IOException("admin address \"unix:" + path
                    + "\": a file that is no socket is there; remove it or choose another path");
        }
        boolean live;
        try {
            live = isLive(path);
        } catch (SocketException e) {
            throw new IOException(
                    "admin address \"unix:" + path + "\": the socket that is there may not be opened ("
                            + e.getMessage() + "): it is another user's; stop its process, remove it, or choose another"
                            + " path",
                    e);
        }
        if (live) {
            throw new IOException("admin address \"unix:" + path
                    + "\" is already in use; stop the process that listens there or choose another path");
        }
        Files.delete(path);
    }

    private static void create(Path directory, Path path) throws IOException {
        try {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
        } catch (IOException e) {
            String why = e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
            throw new IOException(
                    "admin address \"unix:" + path + "\": its directory cannot be created: " + why
                            + "; create it for this user or choose another path",
                    e);
        }
    }

    /** Lets the owner and the group open it, nobody else. */
    static void restrict(Path path) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
    }

    /** Neither a file, nor a device or a named pipe, which Java tells apart from a socket by the mode alone. */
    private static boolean isSocket(Path path) throws IOException {
        int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return (mode & TYPE_MASK) == TYPE_SOCKET;
    }

    private static boolean isLive(Path path) throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // Not blocking: a listener whose backlog is full answers EAGAIN, and it is alive.
            probe.configureBlocking(false);
            probe.connect(UnixDomainSocketAddress.of(path));
            return true;
        } catch (ConnectException e) {
            return false;
        }
    }
}
