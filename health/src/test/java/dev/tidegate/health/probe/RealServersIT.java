package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Word;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.RealNginx;
import dev.tidegate.testkit.RunningTool;
import dev.tidegate.testkit.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HTTP against nginx and nghttpd. */
@Tag("slow")
class RealServersIT {
    private static final String SITE = """
            http {
              access_log access.log;
              server {
                listen 127.0.0.1:%d%s;
                location = /ok { return 200 "all is well\\n"; }
                location = /gone { return 410; }
                location / { root www; }
              }
            }
            """;

    private ProbeBench bench;

    @BeforeEach
    void open() {
        bench = ProbeBench.epoll();
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void nginxInHttp1() throws Exception {
        try (RealNginx nginx = RealNginx.with(port -> SITE.formatted(port, ""))) {
            askNginx(nginx, Https.get(), Https.getting("^all is well$|^x+$"));
        }
    }

    @Test
    void nginxInHttp2() throws Exception {
        try (RealNginx nginx = RealNginx.with(port -> SITE.formatted(port, " http2"))) {
            askNginx(nginx, Https.inHttp2(Https.get()), Https.inHttp2(Https.getting("all is well|^x+$")));
        }
    }

    private void askNginx(RealNginx nginx, HttpProbe get, HttpProbe getting) throws Exception {
        Path www = Files.createDirectory(nginx.directory().resolve("www"));
        Files.writeString(www.resolve("large"), "x".repeat(300_000));
        assertEquals(Finding.pass("HTTP 200"), bench.run(Https.at("/ok", get), nginx.address()));
        assertEquals(
                Word.PASS, bench.run(Https.at("/ok", getting), nginx.address()).word());
        assertEquals(Finding.fail("HTTP 410, expected 200-399"), bench.run(Https.at("/gone", get), nginx.address()));
        assertEquals(
                Word.PASS, bench.run(Https.at("/large", get), nginx.address()).word());
        assertEquals(
                Word.PASS,
                bench.run(Https.at("/large", getting), nginx.address()).word());
        assertEquals(
                "HTTP 200, no /y/ in the first 64 KiB of the body; it begins: \"" + "x".repeat(64)
                        + "\"... (65536 bytes)",
                bench.run(
                                Https.at(
                                        "/large", get.http2() ? Https.inHttp2(Https.getting("y")) : Https.getting("y")),
                                nginx.address())
                        .detail());
        Await.equal("open connections", 0, bench::open);
        String errors = Files.readString(nginx.directory().resolve("error.log"));
        assertEquals("", errors, "nginx complains of a check");
    }

    @Test
    void nghttpdInHttp2(@TempDir Path www) throws Exception {
        Files.writeString(www.resolve("ok"), "all is well\n");
        Tool nghttpd = Tool.require("nghttpd");
        try (RunningTool server = nghttpd.listen(
                port -> List.of("--no-tls", "-a", "127.0.0.1", "-d", www.toString(), String.valueOf(port)))) {
            HttpProbe well = Https.inHttp2(Https.getting("is well"));
            assertEquals(Finding.pass("HTTP 200, /is well/ found"), bench.run(Https.at("/ok", well), server.address()));
            assertEquals(
                    Finding.fail("HTTP 404, expected 200-399"), bench.run(Https.at("/no", well), server.address()));
            Await.equal("open connections", 0, bench::open);
        }
    }

    @Test
    void protocolThatTheServerDoesNotSpeakIsTold() {
        try (RealNginx http1 = RealNginx.http("hello");
                RealNginx http2 = RealNginx.http2("hello")) {
            Finding asked2 = bench.run(Https.inHttp2(Https.get()), http1.address());
            assertEquals(Word.FAIL, asked2.word());
            assertTrue(asked2.detail().contains("HTTP/1"), asked2::detail);
            Finding asked1 = bench.run(Https.get(), http2.address());
            assertEquals(Word.FAIL, asked1.word(), asked1::detail);
        }
    }
}
