package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.RunningTool;
import dev.tidegate.testkit.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS against openssl, with certificates made on the spot. */
@Tag("slow")
class RealTlsIT {
    private static final Duration BOUND = Duration.ofSeconds(30);

    @TempDir
    private Path directory;

    private ProbeBench bench;
    private Tool openssl;

    @BeforeEach
    void open() {
        bench = ProbeBench.epoll();
        openssl = Tool.require("openssl");
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void handshakeTellsVersionAndExpiryAndVerifiesWhatItIsTold() throws Exception {
        authority("ca");
        authority("stranger");
        certificate("server", "ca", "-days", "2");
        try (RunningTool server = serve("server", "-tls1_3")) {
            Finding any = probe(server, null, null);
            assertEquals(Word.PASS, any.word());
            assertTrue(any.detail().matches("TLSv1\\.3, expires \\d{4}-\\d\\d-\\d\\d"), any::detail);
            assertEquals(any, probe(server, null, "ca"));
            assertEquals(any, probe(server, "app.internal", "ca"));
            assertEquals(any, probe(server, "app.internal", "ca"), "a second time, which must not resume the first");
            assertEquals(any, probe(server, "other.internal", null), "a name is verified only with a CA file");
            assertEquals(Finding.fail("certificate is not for other.internal"), probe(server, "other.internal", "ca"));
            assertEquals(
                    Finding.fail("certificate not signed by a CA in " + directory.resolve("stranger.crt")),
                    probe(server, "app.internal", "stranger"));
            Await.equal("open connections", 0, bench::open);
        }
        try (RunningTool server = serve("server", "-tls1_2")) {
            Finding any = probe(server, "app.internal", "ca");
            assertTrue(any.detail().startsWith("TLSv1.2, expires "), any::detail);
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void expiredCertificateFailsOnlyWhereItIsVerified() throws Exception {
        authority("ca");
        certificate("old", "ca", "-days", "-1");
        try (RunningTool server = serve("old")) {
            Finding verified = probe(server, "app.internal", "ca");
            assertEquals(Word.FAIL, verified.word());
            assertTrue(verified.detail().startsWith("certificate expired"), verified::detail);
            Finding any = probe(server, null, null);
            assertTrue(any.detail().contains(", expired "), any::detail);
            assertEquals(Word.PASS, any.word());
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void nameIsAskedForEvenIfItHasNoDot() throws Exception {
        authority("ca");
        certificate("server", "ca", "-days", "2");
        certificate("single", "ca", "-days", "2", "-extfile", file("single.san"));
        try (RunningTool server =
                serve("server", "-servername", "single", "-cert2", file("single.crt"), "-key2", file("single.key"))) {
            assertEquals(Word.PASS, probe(server, "single", "ca").word());
            assertEquals(Word.PASS, probe(server, "app.internal", "ca").word());
        }
    }

    @Test
    void caFileIsReadAnewForEachRun() throws Exception {
        authority("ca");
        authority("former");
        certificate("server", "ca", "-days", "2");
        Files.copy(directory.resolve("former.crt"), directory.resolve("trusted.crt"));
        try (RunningTool server = serve("server")) {
            assertEquals(Word.FAIL, probe(server, "app.internal", "trusted").word());
            Files.writeString(
                    directory.resolve("trusted.crt"),
                    Files.readString(directory.resolve("former.crt")) + Files.readString(directory.resolve("ca.crt")));
            assertEquals(Word.PASS, probe(server, "app.internal", "trusted").word());
        }
    }

    @Test
    void serverIsToldOfTheEnd() throws Exception {
        authority("ca");
        certificate("server", "ca", "-days", "2");
        try (RunningTool server = serve("server", "-state")) {
            assertEquals(Word.PASS, probe(server, "app.internal", "ca").word());
            Await.until(
                    "close_notify has come",
                    () -> (server.stdout() + server.stderr()).contains("SSL3 alert read:warning:close notify"));
        }
    }

    private Finding probe(RunningTool server, String name, String ca) {
        return bench.run(
                new TlsProbe(
                        Optional.ofNullable(name),
                        Optional.ofNullable(ca)
                                .map(file -> directory.resolve(file + ".crt").toString())),
                server.address());
    }

    private RunningTool serve(String certificate, String... options) {
        return openssl.listen(port -> {
            List<String> arguments = new ArrayList<>(List.of(
                    "s_server",
                    "-accept",
                    "127.0.0.1:" + port,
                    "-cert",
                    file(certificate + ".crt"),
                    "-key",
                    file(certificate + ".key"),
                    "-www",
                    "-quiet"));
            arguments.addAll(List.of(options));
            return arguments;
        });
    }

    private void authority(String name) {
        openssl(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "3",
                "-subj",
                "/CN=" + name,
                "-keyout",
                file(name + ".key"),
                "-out",
                file(name + ".crt"));
    }

    private void certificate(String name, String authority, String... validity) throws Exception {
        openssl(
                "req",
                "-new",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-subj",
                "/CN=" + name,
                "-keyout",
                file(name + ".key"),
                "-out",
                file(name + ".csr"));
        Files.writeString(directory.resolve("san"), "subjectAltName=DNS:app.internal\n");
        Files.writeString(directory.resolve("single.san"), "subjectAltName=DNS:single\n");
        List<String> sign = new ArrayList<>(List.of(
                "x509",
                "-req",
                "-in",
                file(name + ".csr"),
                "-CA",
                file(authority + ".crt"),
                "-CAkey",
                file(authority + ".key"),
                "-CAcreateserial",
                "-extfile",
                file("san"),
                "-out",
                file(name + ".crt")));
        sign.addAll(List.of(validity));
        openssl(sign.toArray(String[]::new));
    }

    private void openssl(String... arguments) {
        Tool.Result result = openssl.run(BOUND, arguments);
        assertEquals(0, result.exit(), result::toString);
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }
}
