package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS on TCP addresses, and what is needed beyond loopback. */
final class AdminTlsTest {
    private final AdminServer server = new AdminServer(new FakeOperations(), TestServer.LIMITS);

    @TempDir
    Path directory;

    @AfterEach
    void stop() {
        server.close();
    }

    private InetSocketAddress start(AdminTls tls) throws IOException {
        AdminSettings settings = new AdminSettings(
                List.of(TestServer.loopback()), Optional.of(TestServer.tokens(directory)), Optional.of(tls));
        return ((AdminAddress.Tcp) server.start(settings).get(0)).address();
    }

    @Test
    void itIsServedWithTheCertificateThatIsConfigured() throws IOException, InterruptedException {
        TlsFixture files = TlsFixture.make(directory);
        InetSocketAddress address = start(files.server());

        assertEquals("live\n", files.get(address, "/livez", "").body());
        assertEquals(200, files.get(address, "/v1/status", TestServer.VIEWER).statusCode());
        assertEquals(401, files.get(address, "/v1/status", "").statusCode());
    }

    @Test
    void aClientWithoutTheCertificateThatIsAskedForIsNotServed() throws IOException, InterruptedException {
        TlsFixture files = TlsFixture.make(directory);
        InetSocketAddress address = start(files.mutual());

        assertEquals(200, files.get(address, "/livez", "", true).statusCode());
        assertEquals(401, files.get(address, "/v1/status", "", true).statusCode());
        assertThrows(IOException.class, () -> files.get(address, "/livez", ""));
    }

    @Test
    void theEndIsToldSoThatNoAnswerCanBeTakenForAWholeOne() throws IOException, InterruptedException {
        TlsFixture files = TlsFixture.make(directory);
        InetSocketAddress address = start(files.server());
        try (SSLSocket socket = (SSLSocket) files.context(false, "TLSv1.2")
                .getSocketFactory()
                .createSocket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write("GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

            // Without close_notify this would be an SSLException.
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

            assertTrue(answer.endsWith("live\n"), answer);
            assertEquals("TLSv1.2", socket.getSession().getProtocol());
        }
    }

    @Test
    void olderTlsIsNotSpoken() throws IOException, InterruptedException {
        TlsFixture files = TlsFixture.make(directory);
        InetSocketAddress address = start(files.server());
        try (SSLSocket socket = (SSLSocket)
                files.context(false, "TLS").getSocketFactory().createSocket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(10_000);
            socket.setEnabledProtocols(new String[] {"TLSv1.1"});

            assertThrows(SSLException.class, socket::startHandshake);
        }
    }

    @Test
    void plainHttpToItGetsNoAnswer() throws IOException, InterruptedException {
        InetSocketAddress address = start(TlsFixture.make(directory).server());

        try (RawClient client = new RawClient(address)) {
            client.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");

            assertTrue(client.isEnded());
        }
    }

    @Test
    void aNewCertificateIsTakenOnRefreshAndABadOneIsNot() throws IOException, InterruptedException {
        TlsFixture first = TlsFixture.make(directory);
        InetSocketAddress address = start(first.server());
        TlsFixture second = TlsFixture.other(Files.createDirectory(directory.resolve("second")));
        Files.writeString(directory.resolve("server.crt"), "rubbish");

        server.refresh();
        assertEquals(200, first.get(address, "/livez", "").statusCode());

        for (String name : List.of("server.crt", "server.key")) {
            Files.copy(second.file(name), first.file(name), StandardCopyOption.REPLACE_EXISTING);
        }
        server.refresh();

        assertEquals(200, second.get(address, "/livez", "").statusCode());
        assertThrows(IOException.class, () -> first.get(address, "/livez", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tls", "tokens"})
    @Tag("slow")
    void beyondLoopbackBothTlsAndTokensAreNeeded(String only) throws IOException, InterruptedException {
        InetSocketAddress outside = new InetSocketAddress(InetAddress.getByName("127.0.0.2"), 0);
        AdminTls tls = TlsFixture.make(directory).server();
        Path tokens = TestServer.tokens(directory);
        AdminSettings settings = new AdminSettings(
                List.of(AdminAddress.tcp(outside)),
                only.equals("tokens") ? Optional.of(tokens) : Optional.empty(),
                only.equals("tls") ? Optional.of(tls) : Optional.empty());
        try (AdminServer far = new AdminServer(new FakeOperations(), TestServer.LIMITS, address -> false)) {
            IOException refused = assertThrows(IOException.class, () -> far.start(settings));

            assertTrue(
                    refused.getMessage().startsWith("admin address \"127.0.0.2:0\" is not a loopback address"),
                    refused.getMessage());
        }
    }

    @Test
    void filesThatCannotBeUsedAreNamed() throws IOException, InterruptedException {
        TlsFixture files = TlsFixture.make(directory);
        Path rubbish = Files.writeString(directory.resolve("rubbish"), "rubbish");
        Path missing = directory.resolve("missing");
        AdminTls good = files.server();

        assertRefused(
                "admin.tls.certificate: \"" + missing + "\" cannot be read",
                new AdminTls(missing, good.key(), Optional.empty()));
        assertRefused("admin.tls: certificate \"" + rubbish, new AdminTls(rubbish, good.key(), Optional.empty()));
        assertRefused("\" and key \"" + rubbish, new AdminTls(good.certificate(), rubbish, Optional.empty()));
        assertRefused(
                "admin.tls.client-ca: \"" + rubbish,
                new AdminTls(good.certificate(), good.key(), Optional.of(rubbish)));
    }

    private void assertRefused(String message, AdminTls tls) {
        try (AdminServer other = new AdminServer(new FakeOperations())) {
            AdminSettings settings =
                    new AdminSettings(List.of(TestServer.loopback()), Optional.empty(), Optional.of(tls));

            IOException refused = assertThrows(IOException.class, () -> other.start(settings));

            assertTrue(refused.getMessage().contains(message), refused.getMessage());
        }
    }
}
