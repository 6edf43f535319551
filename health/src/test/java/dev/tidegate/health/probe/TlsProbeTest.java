package dev.tidegate.health.probe;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.Scripts;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS against servers that do not speak it, or break off. */
class TlsProbeTest {
    private static final TlsProbe ANY = new TlsProbe(Optional.empty(), Optional.empty());

    private ProbeBench bench;

    @BeforeEach
    void open() {
        bench = ProbeBench.nio();
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void whatIsNotTlsIsTold() {
        Finding notTls = Finding.fail("answered with something that is not TLS");
        assertEquals(notTls, run(c -> c.send("SSH-2.0-OpenSSH_9.2\r\n")));
        assertEquals(notTls, run(c -> c.send("HTTP/1.1 400 Bad Request\r\n\r\n")));
        assertEquals(Word.FAIL, run(Scripts.streamForever(5)).word());
    }

    @Test
    void refusalByTheTargetIsTold() {
        Script alert = c -> {
            c.readExactly(100);
            c.send(new byte[] {21, 3, 3, 0, 2, 2, 40});
        };
        assertEquals(Finding.fail("handshake refused by the target (handshake_failure)"), run(alert));
    }

    @Test
    void closeAndResetInTheHandshakeAreTold() {
        assertEquals(Finding.fail("connection closed, and no end of the TLS handshake"), run(c -> {
            c.readExactly(100);
            c.shutdownOutput();
            c.readToEnd();
        }));
        assertEquals(Finding.fail("connection closed, and no end of the TLS handshake"), run(c -> {
            c.readExactly(100);
            c.send(new byte[] {22, 3, 3});
            c.shutdownOutput();
            c.readToEnd();
        }));
        assertEquals(
                Finding.fail("connection reset, and no end of the TLS handshake"), run(Scripts.rstAfterReading(100)));
    }

    @Test
    void exceptionOfAClosedChannelIsAClose() {
        Conversation conversation = new Conversation(
                finding -> assertEquals(Finding.fail("connection closed, and no answer"), finding),
                PoliteClose::finFirst);
        conversation.await("answer");
        conversation.onFault(new ClosedChannelException());
        assertTrue(conversation.isOver());
    }

    @Test
    void afterAFailedHandshakeTheEndIsPolite() {
        try (ScriptedBackend backend = ScriptedBackend.start(
                Scripts.greet("220 mail\r\n".getBytes(US_ASCII)).then(Scripts.readToEnd()))) {
            assertEquals(Word.FAIL, bench.run(ANY, backend.address()).word());
            backend.awaitAllDone();
            assertEquals(Ending.FIN, backend.connection(0).ending());
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void cancelTellsHowFarItCameAndNothingAfterwards() {
        try (ScriptedBackend backend = ScriptedBackend.start(Scripts.readToEnd())) {
            ProbeBench.Started silent = bench.start(ANY, backend.address());
            Await.until("the hello has come", () -> backend.connection(0).bytesReceived() > 100);
            assertEquals("no end of the TLS handshake", silent.cancel());
            Await.equal("open connections", 0, bench::open);
            assertEquals(0, silent.tellings().get());
        }
    }

    @Test
    void caFileThatIsOfNoUseSaysNothingAboutTheTarget(@TempDir Path directory) throws Exception {
        try (ScriptedBackend backend = ScriptedBackend.refusing()) {
            String absent = directory.resolve("absent.pem").toString();
            assertEquals(
                    Finding.voided("CA file " + absent + " does not exist"),
                    bench.run(new TlsProbe(Optional.empty(), Optional.of(absent)), backend.address()));
            String prose = Files.writeString(directory.resolve("prose.pem"), "no certificate\n")
                    .toString();
            Finding finding = bench.run(new TlsProbe(Optional.empty(), Optional.of(prose)), backend.address());
            assertEquals(Word.VOID, finding.word());
            assertTrue(finding.detail().startsWith("CA file " + prose + " "), finding::detail);
            Finding folder =
                    bench.run(new TlsProbe(Optional.empty(), Optional.of(directory.toString())), backend.address());
            assertEquals(Finding.voided("CA file " + directory + " cannot be read (it is no file)"), folder);
        }
    }

    private Finding run(Script script) {
        try (ScriptedBackend backend = ScriptedBackend.start(script)) {
            Finding finding = bench.run(ANY, backend.address());
            Await.equal("open connections", 0, bench::open);
            return finding;
        }
    }
}
