package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.GrpcHealthServer;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program as it is shipped: the launcher and the jars that the build has put by for it, and none of the tests' own. */
@Tag("slow")
class ShippedIT {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final Path MODULE = Path.of("").toAbsolutePath();

    @TempDir
    Path home;

    private List<Path> jars;

    @BeforeEach
    void install() throws IOException {
        jars = new ArrayList<>();
        Path lib = Files.createDirectories(home.resolve("lib"));
        for (Path directory : List.of(MODULE.resolve("target"), MODULE.resolve("target/lib"))) {
            try (Stream<Path> files = Files.list(directory)) {
                for (Path jar : files.filter(ShippedIT::isShipped).toList()) {
                    jars.add(Files.copy(jar, lib.resolve(jar.getFileName())));
                }
            }
        }
        Path bin = Files.createDirectories(home.resolve("bin"));
        Files.copy(MODULE.resolveSibling("bin/tidegate"), bin.resolve("tidegate"), StandardCopyOption.COPY_ATTRIBUTES);
    }

    private static boolean isShipped(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(".jar")
                && !name.endsWith("-tests.jar")
                && !name.endsWith("-sources.jar")
                && !name.endsWith("-javadoc.jar");
    }

    @Test
    void everyClassThatOurJarsReferToIsInOneOfTheJars() {
        List<String> ours = jars.stream()
                .filter(jar -> jar.getFileName().toString().startsWith("tidegate-"))
                .map(Path::toString)
                .toList();
        assertEquals(4, ours.size(), ours::toString);
        List<String> arguments = new ArrayList<>(List.of("--multi-release", "17", "--missing-deps", "-cp"));
        arguments.add(jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
        arguments.addAll(ours);
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);

        int exit = ToolProvider.findFirst("jdeps").orElseThrow().run(out, out, arguments.toArray(String[]::new));

        assertEquals(0, exit, said::toString);
        assertEquals(
                List.of(),
                said.toString()
                        .lines()
                        .filter(line -> line.contains("not found"))
                        .toList());
    }

    @Test
    void checksOfEveryProtocolPassAtRealServers() throws Exception {
        Path socket = home.resolve("admin.sock");
        AdminCurl curl = new AdminCurl(socket);
        try (GrpcHealthServer grpc = GrpcHealthServer.start();
                TidegateProcess tidegate = TidegateProcess.run(home, """
                        admin: {listen: "unix:%s"}
                        log: {access: {path: none}}
                        frontends: [{name: front, listen: "127.0.0.1:0", backend: grpc}]
                        backends:
                          - name: grpc
                            health: {type: grpc, interval: 500ms, timeout: 5s}
                            endpoints: [{name: a, address: "%2$s"}]
                          - name: h2c
                            health: {type: http, http-version: h2c, method: POST, path: /grpc.health.v1.Health/Check,
                              headers: ["Content-Type: application/grpc"], expect-status: 200, interval: 500ms, timeout: 5s}
                            endpoints: [{name: a, address: "%2$s"}]
                          - name: program
                            health: {type: exec, command: /bin/true, interval: 500ms, timeout: 5s}
                            endpoints: [{name: a, address: "%2$s"}]
                        """.formatted(socket, grpc.hostPort()))
                        .by(home.resolve("bin/tidegate"))
                        .start()) {
            Await.until(
                    "the first round is over", BOUND, () -> curl.get("/readyz").status() == 200);
            for (String backend : List.of("grpc", "h2c", "program")) {
                Await.until(
                        backend + " is up; " + look(curl, backend),
                        BOUND,
                        () -> look(curl, backend).at("/health/state").asText().equals("up"));
            }
            tidegate.signal("TERM");
            assertEquals(0, tidegate.awaitExit(), () -> tidegate.err().toString());
        }
    }

    private static JsonNode look(AdminCurl curl, String backend) {
        return curl.look("/v1/backends/" + backend + "/endpoints/a");
    }
}
