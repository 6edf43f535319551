package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Tool;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command line and an admin API that has its clients show a certificate. */
@Timeout(180)
class ClientCertificateIT {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    private final int port = FreePort.pick();
    private StringWriter out;
    private StringWriter err;

    @BeforeEach
    void makeFiles() throws IOException {
        authority("ca");
        authority("other-ca");
        certificate("server", "ca", "ec");
        certificate("client", "ca", "ec");
        certificate("rsa-client", "ca", "rsa:2048");
        certificate("stranger", "other-ca", "ec");
        secret("tokens", "viewer " + TOKEN + "\n");
        secret("token", TOKEN);
    }

    private void authority(String name) {
        openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + name + " -keyout "
                + file(name + ".key") + " -out " + file(name + ".pem"));
    }

    private void certificate(String name, String authority, String kind) {
        openssl("req -x509 -newkey " + kind + (kind.equals("ec") ? " -pkeyopt ec_paramgen_curve:P-256" : "")
                + " -nodes -days 2 -subj /CN=" + name + " -addext subjectAltName=DNS:localhost -CA "
                + file(authority + ".pem") + " -CAkey " + file(authority + ".key") + " -addext"
                + " basicConstraints=critical,CA:FALSE -keyout " + file(name + ".key") + " -out "
                + file(name + ".pem"));
    }

    private static void openssl(String arguments) {
        Tool.Result made = Tool.require("openssl").run(Duration.ofSeconds(20), arguments.split(" "));
        assertEquals(0, made.exit(), made::toString);
    }

    private void secret(String name, String text) throws IOException {
        Files.writeString(directory.resolve(name), text);
        Files.setPosixFilePermissions(directory.resolve(name), PosixFilePermissions.fromString("rw-------"));
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }

    private int status(String... more) {
        out = new StringWriter();
        err = new StringWriter();
        List<String> all = new ArrayList<>(List.of(
                "status",
                "--admin",
                "https://localhost:" + port,
                "--ca",
                file("ca.pem"),
                "--token-file",
                file("token")));
        all.addAll(List.of(more));
        return Main.execute(new PrintWriter(out, true), new PrintWriter(err, true), all.toArray(String[]::new));
    }

    private int status(String client) {
        return status("--certificate", file(client + ".pem"), "--key", file(client + ".key"));
    }

    @Test
    void whoShowsACertificateOfTheRightAuthorityIsLetIn() throws IOException {
        String yaml = """
                admin: {listen: "127.0.0.1:%d", token-file: %s, tls: {certificate: %s, key: %s, client-ca: %s}}
                process: {warm-up: off}
                frontends: [{name: front, listen: "127.0.0.1:0", backend: back}]
                backends: [{name: back, endpoints: [{name: a, address: "%s"}]}]
                """;
        try (ScriptedBackend backend = ScriptedBackend.echo();
                TidegateProcess tidegate = TidegateProcess.run(
                                directory,
                                yaml.formatted(
                                        port,
                                        file("tokens"),
                                        file("server.pem"),
                                        file("server.key"),
                                        file("ca.pem"),
                                        backend.hostPort()))
                        .start()) {
            assertEquals(Exit.OK, status("client"), err::toString);
            assertTrue(out.toString().contains("front"), out::toString);
            assertEquals(Exit.OK, status("rsa-client"), err::toString);
            // Before the command too, as all of these.
            out = new StringWriter();
            assertEquals(
                    Exit.OK,
                    Main.execute(
                            new PrintWriter(out, true),
                            new PrintWriter(err, true),
                            "--certificate",
                            file("client.pem"),
                            "--key",
                            file("client.key"),
                            "--ca",
                            file("ca.pem"),
                            "--token-file",
                            file("token"),
                            "--admin",
                            "https://localhost:" + port,
                            "log-level"),
                    err::toString);

            assertEquals(Exit.UNAVAILABLE, status());
            assertTrue(err.toString().contains("cannot reach Tidegate at https://"), err::toString);
            assertEquals(Exit.UNAVAILABLE, status("stranger"));
            assertTrue(tidegate.isAlive());
        }
    }

    @Test
    void aCertificateWithoutItsKeyAndAKeyThatIsNoneAreUsageErrors() throws IOException {
        assertEquals(Exit.USAGE, status("--certificate", file("client.pem")));
        assertTrue(err.toString().contains("--certificate and --key belong together"), err::toString);

        assertEquals(Exit.USAGE, status("--certificate", file("client.pem"), "--key", file("client.pem")));
        assertTrue(err.toString().contains("BEGIN PRIVATE KEY"), err::toString);

        Files.writeString(directory.resolve("empty.pem"), "");
        assertEquals(Exit.USAGE, status("--certificate", file("empty.pem"), "--key", file("client.key")));
        assertTrue(err.toString().contains("holds no certificate"), err::toString);

        assertEquals(Exit.USAGE, status("--certificate", file("rsa-client.pem"), "--key", file("client.key")));
        assertTrue(err.toString().contains("cannot be used"), err::toString);
    }
}
