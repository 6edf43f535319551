package dev.tidegate.admin;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/** An admin server on loopback with a token for each role, and no limit of rate that a test would meet by chance. */
final class TestServer implements AutoCloseable {
    static final AdminLimits LIMITS = AdminLimits.STANDARD.withRate(100_000, 100_000);
    static final String VIEWER = "viewer-token-0123456789";
    static final String OPERATOR = "operator-token-0123456789";
    static final String ADMIN = "admin-token-0123456789+/~==";

    final FakeOperations operations = new FakeOperations();
    final AdminServer server;
    final Path tokenFile;
    private final InetSocketAddress address;

    TestServer(Path directory) throws IOException {
        this(directory, LIMITS);
    }

    TestServer(Path directory, AdminLimits limits) throws IOException {
        tokenFile = tokens(directory);
        server = new AdminServer(operations, limits);
        AdminSettings settings = new AdminSettings(List.of(loopback()), Optional.of(tokenFile), Optional.empty());
        address = ((AdminAddress.Tcp) server.start(settings).get(0)).address();
    }

    static AdminAddress loopback() {
        return AdminAddress.tcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /** A file with a token for each role. */
    static Path tokens(Path directory) throws IOException {
        Path file = directory.resolve("tokens");
        Files.writeString(
                file, "# for tests\n\nviewer " + VIEWER + "\noperator\t" + OPERATOR + "\n admin  " + ADMIN + " \n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    InetSocketAddress address() {
        return address;
    }

    Asker as(String token) {
        return new Asker(address, token);
    }

    Asker admin() {
        return as(ADMIN);
    }

    @Override
    public void close() {
        server.close();
    }
}
