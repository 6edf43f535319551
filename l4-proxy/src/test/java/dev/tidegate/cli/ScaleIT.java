package dev.tidegate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidegate.testkit.CpuTime;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many endpoints. What is meant to take 3 s, or 200 ms, is printed as it was; the bounds leave room for a machine that does
 * much else.
 */
@Tag("clock")
class ScaleIT {
    private static final Duration LOAD_BOUND = Duration.ofSeconds(30);
    private static final Duration SCRAPE_BOUND = Duration.ofSeconds(2);
    private static final int WARM_UP = 10;
    private static final int TIMED = 5;

    @TempDir
    Path directory;

    private String yaml(int endpoints, int weight, int port) {
        String list = IntStream.range(0, endpoints)
                .mapToObj(i -> "      - {name: e" + i + ", address: \"127.1." + i / 250 + "." + (1 + i % 250) + ":"
                        + port + "\", weight: " + weight + "}\n")
                .collect(Collectors.joining());
        return """
                admin: {listen: "unix:%s"}
                log: {access: {path: none}}
                process: {warm-up: off}
                frontends:
                  - {name: front, listen: "127.0.0.1:0", backend: back}
                backends:
                  - name: back
                    balance: round-robin
                    endpoints:
                %s""".formatted(directory.resolve("admin.sock"), list);
    }

    private AdminCurl curl() {
        return new AdminCurl(directory.resolve("admin.sock"));
    }

    private static long millisSince(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1_000_000;
    }

    private static void print(String what, TidegateProcess tidegate, long beginNanos, Duration cpuBefore) {
        Duration cpu = CpuTime.ofProcess(tidegate.pid()).minus(cpuBefore);
        System.out.println(what + ": " + millisSince(beginNanos) + " ms, of CPU " + cpu.toMillis() + " ms");
    }

    @Test
    void tenThousandEndpointsAreLoadedAtStartAndByReload() throws Exception {
        int port = FreePort.pick();
        long begin = System.nanoTime();
        try (TidegateProcess small =
                TidegateProcess.run(directory, yaml(1, 1, port)).start()) {
            print("start with one endpoint", small, begin, Duration.ZERO);
            AdminCurl curl = curl();
            Files.writeString(directory.resolve("tidegate.yaml"), yaml(10_000, 1, port));
            for (int weight = 1; weight <= 3; weight++) {
                Files.writeString(directory.resolve("tidegate.yaml"), yaml(10_000, weight, port));
                Duration cpu = CpuTime.ofProcess(small.pid());
                begin = System.nanoTime();
                JsonNode diff = curl.post("/v1/reload", null).expect(200).json();
                print("reload that brings or changes 10,000 endpoints", small, begin, cpu);
                assertTrue(millisSince(begin) < LOAD_BOUND.toMillis());
                assertTrue(diff.get("changes").size() >= 9_999);
            }
            assertEquals(3, curl.endpoint("e9999").at("/weight/effective").asInt());
        }
        begin = System.nanoTime();
        try (TidegateProcess large =
                TidegateProcess.run(directory, yaml(10_000, 1, port)).start()) {
            print("start with 10,000 endpoints", large, begin, Duration.ZERO);
            assertTrue(millisSince(begin) < LOAD_BOUND.toMillis());
            assertEquals("ready", curl().endpoint("e9999").get("state").asText());
        }
    }

    @Test
    void metricsOfAThousandEndpointsComeAtOnce() throws Exception {
        try (ScriptedBackend some = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.onHost("127.1.0.1"), Scripts.greet(new byte[] {'a'}));
                TidegateProcess tidegate = TidegateProcess.run(directory, yaml(1_000, 1, some.port()))
                        .start()) {
            haveEachEndpointTried(tidegate);
            AdminCurl curl = curl();
            for (String accept : List.of("text/plain", "application/openmetrics-text; version=1.0.0")) {
                for (int i = 0; i < WARM_UP; i++) {
                    scrape(curl, accept);
                }
                List<Long> millis = new ArrayList<>();
                int size = 0;
                Duration cpu = CpuTime.ofProcess(tidegate.pid());
                for (int i = 0; i < TIMED; i++) {
                    long begin = System.nanoTime();
                    size = scrape(curl, accept);
                    millis.add(millisSince(begin));
                }
                Duration cpuEach = CpuTime.ofProcess(tidegate.pid()).minus(cpu).dividedBy(TIMED);
                List<Long> sorted = millis.stream().sorted().toList();
                System.out.println("/metrics of 1,000 endpoints as " + accept + ", "
                        + size + " characters: " + millis + " ms, of CPU each "
                        + cpuEach.toMillis() + " ms");
                assertTrue(sorted.get(TIMED / 2) < SCRAPE_BOUND.toMillis(), () -> "scrapes took " + millis + " ms");
            }
        }
    }

    private static int scrape(AdminCurl curl, String accept) {
        return curl.call("GET", "/metrics", null, "Accept: " + accept)
                .expect(200)
                .body()
                .length();
    }

    /** Each worker comes to count for each endpoint: all but one refuse, and a connection goes on to the next. */
    private static void haveEachEndpointTried(TidegateProcess tidegate) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), tidegate.port());
        Callable<Boolean> visit = () -> {
            try (ScriptedClient client = ScriptedClient.connect(address)) {
                return client.readToEnd().kind() != End.Kind.TIMEOUT;
            } catch (PeerGoneException reset) {
                return true;
            }
        };
        ExecutorService visitors = Executors.newFixedThreadPool(16);
        try {
            for (Future<Boolean> each : visitors.invokeAll(Collections.nCopies(800, visit))) {
                assertTrue(each.get());
            }
        } finally {
            visitors.shutdownNow();
        }
    }
}
