package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.PeerGoneException;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** IPv4 and IPv6 side by side, on every transport. */
class DualStackTest {
    /** envoyproxy/envoy#19981: both wildcards of one port could be configured, and one of them got no traffic. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void bothWildcardsOfOnePortServeTheirClients(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo()) {
            int port = freePort();
            try (var proxy = ProxyFixture.on(transport)
                    .listen("[\"0.0.0.0:" + port + "\", \"[::]:" + port + "\"]")
                    .endpoint(backend)
                    .start()) {
                for (int i = 0; i < 5; i++) {
                    echo(v4(port));
                    echo(v6(port));
                }
                Await.until("ten records", () -> proxy.records().size() == 10);

                long plain = proxy.records().stream()
                        .filter(record -> ((InetSocketAddress) record.client).getAddress() instanceof Inet4Address)
                        .count();
                assertEquals(5, plain);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void theOrderInWhichTheWildcardsAreWrittenDoesNotMatter(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo()) {
            int port = freePort();
            try (var proxy = ProxyFixture.on(transport)
                    .listen("[\"[::]:" + port + "\", \"0.0.0.0:" + port + "\"]")
                    .endpoint(backend)
                    .start()) {
                echo(v4(port));
                echo(v6(port));
                proxy.awaitNoConnections();
            }
        }
    }

    /** brazilofmux/tinymux#800: an IPv4 client that came in by the IPv6 socket looked like another client. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void anIpv4ClientOfADualStackListenerIsShownAsPlainIpv4(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .listen("[::]:0")
                        .endpoint(backend)
                        .start()) {
            echo(v4(proxy.address().getPort()));
            echo(v6(proxy.address().getPort()));

            InetSocketAddress first = (InetSocketAddress) proxy.awaitRecord(0).client;
            assertInstanceOf(Inet4Address.class, first.getAddress());
            assertEquals("127.0.0.1", first.getAddress().getHostAddress());
            assertInstanceOf(Inet4Address.class, ((InetSocketAddress) proxy.awaitRecord(0).local).getAddress());
            InetSocketAddress second = (InetSocketAddress) proxy.awaitRecord(1).client;
            assertInstanceOf(Inet6Address.class, second.getAddress());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void anIpv4WildcardDoesNotServeIpv6Clients(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .listen("0.0.0.0:0")
                        .endpoint(backend)
                        .start()) {
            try (ScriptedClient client =
                    ScriptedClient.connect(v6(proxy.address().getPort()))) {
                assertEquals(End.Kind.RST, client.readToEnd().kind());
            } catch (ConnectException | PeerGoneException refused) {
                assertTrue(refused.getMessage() != null);
            }
            echo(v4(proxy.address().getPort()));

            proxy.awaitRecord(0);
            assertEquals(1, backend.connections().size());
        }
    }

    /** MegaManSec/Gixy-Next#41: an IPv6 literal was taken for a host name. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void anIpv6EndpointIsReached(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(
                        ScriptedBackend.Options.DEFAULT.onHost("::1"), dev.tidegate.testkit.Scripts.echo());
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"[0:0:0:0:0:0:0:1]:" + backend.port() + "\"}")
                        .start()) {
            echo(v4(proxy.address().getPort()));

            assertEquals("[::1]:" + backend.port(), proxy.awaitOnlyRecord().endpoint);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void aMappedEndpointIsTheIpv4OneInOneCanonicalForm(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport)
                        .endpoint("{address: \"[::ffff:127.0.0.1]:" + backend.port() + "\"}")
                        .start()) {
            echo(v4(proxy.address().getPort()));

            assertEquals("127.0.0.1:" + backend.port(), proxy.awaitOnlyRecord().endpoint);
        }
    }

    private static void echo(InetSocketAddress address) throws IOException {
        try (ScriptedClient client = ScriptedClient.connect(address)) {
            client.send("ping");
            assertEquals("ping", client.readText(4));
            client.shutdownOutput();
            client.readToEnd();
        }
    }

    private static InetSocketAddress v4(int port) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    }

    private static InetSocketAddress v6(int port) throws UnknownHostException {
        byte[] one = new byte[16];
        one[15] = 1;
        return new InetSocketAddress(InetAddress.getByAddress(one), port);
    }

    /** Both families need the same number, so the kernel cannot choose it for each. */
    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0)) {
            return probe.getLocalPort();
        }
    }
}
