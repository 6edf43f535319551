package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.proxy.ProxyFixture;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** HAProxy understands the PROXY protocol that endpoints are sent, and says who the client is. */
class ProxyProtocolIT {
    @TempDir
    static Path directory;

    private static Daemon haproxy;

    @BeforeAll
    static void start() throws Exception {
        InetSocketAddress address = Daemon.freeAddress();
        Path conf = Files.writeString(directory.resolve("haproxy.cfg"), """
                defaults
                  mode http
                  timeout client 10s
                  timeout http-request 10s
                frontend echo
                  bind %s accept-proxy
                  http-request return status 200 content-type text/plain lf-string "%%[src]:%%[src_port] %%[dst]:%%[dst_port]"
                """.formatted(Daemon.hostPort(address)));
        haproxy = Daemon.start(address, directory, "haproxy", "-db", "-f", conf.toString());
    }

    @AfterAll
    static void stop() {
        if (haproxy != null) {
            haproxy.close();
        }
    }

    static Stream<Arguments> transportsAndVersions() {
        return Stream.of(Wish.IO_URING, Wish.EPOLL, Wish.NIO)
                .flatMap(wish -> Stream.of("v1", "v2").map(version -> Arguments.of(wish, version)));
    }

    @ParameterizedTest
    @MethodSource("transportsAndVersions")
    void haproxyLearnsTheClientsAddress(Wish transport, String version) throws Exception {
        assertTold(transport, version, "127.0.0.1", "127.0.0.9");
    }

    @ParameterizedTest
    @MethodSource("transportsAndVersions")
    void haproxyLearnsTheClientsIpv6Address(Wish transport, String version) throws Exception {
        assertTold(transport, version, "[::1]", "::1");
    }

    private static void assertTold(Wish transport, String version, String listen, String source) throws Exception {
        try (var proxy = ProxyFixture.on(transport)
                .endpoint(haproxy.endpoint())
                .listen(listen + ":0")
                .connect("{timeout: 2s, proxy-protocol: " + version + "}")
                .start()) {
            String listener = listen + ":" + proxy.address().getPort();
            String told = Command.run("curl", "-sS", "-f", "--interface", source, "http://" + listener + "/")
                    .expectSuccess()
                    .text();

            InetSocketAddress client = (InetSocketAddress) proxy.awaitOnlyRecord().client;
            assertEquals(source + ":" + client.getPort() + " " + listener.replaceAll("[\\[\\]]", ""), told);
        }
    }
}
