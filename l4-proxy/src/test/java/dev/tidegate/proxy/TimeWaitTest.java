package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.FreePort;
import dev.tidegate.testkit.Script;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.Sockets;
import java.io.IOException;
import org.junit.jupiter.api.Tag;

/**
 * Who ends first keeps the pair of ports for a minute (TIME_WAIT). The order of FINs is passed on as it came, so that an
 * endpoint that ends first takes that on itself, and the proxy's source ports stay free: minhle.xyz, Running Out of Ports.
 */
class TimeWaitTest {
    private static final Script ENDS_FIRST = connection -> {
        connection.send(connection.readExactly(4));
        connection.shutdownOutput();
        connection.readToEnd();
    };

    @EachTransport
    @Tag("slow")
    void whereTheClientEndsFirstTheProxyKeepsTheSourcePort(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(onUnusedPort(), Scripts.echo());
                var proxy = proxy(transport, backend)) {
            int listening = proxy.address().getPort();
            endAfterClients(proxy, 40);

            Await.equal("of the client", 40L, () -> waiting(0, listening));
            Await.equal("of the proxy towards the endpoint", 40L, () -> waiting(0, backend.port()));
            assertEquals(0, waiting(listening, 0), "of the proxy towards the client");
            assertEquals(0, waiting(backend.port(), 0), "of the endpoint");
        }
    }

    @EachTransport
    @Tag("slow")
    void whereTheEndpointEndsFirstTheProxyKeepsNoSourcePort(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(onUnusedPort(), ENDS_FIRST);
                var proxy = proxy(transport, backend)) {
            int listening = proxy.address().getPort();
            endAfterEndpoints(proxy, 40);

            Await.equal("of the endpoint", 40L, () -> waiting(backend.port(), 0));
            Await.equal("of the proxy towards the client", 40L, () -> waiting(listening, 0));
            assertEquals(0, waiting(0, backend.port()), "of the proxy towards the endpoint");
            assertEquals(0, waiting(0, listening), "of the client");
        }
    }

    /**
     * Not one that the kernel chose: it may have been another test's a moment ago, whose sockets wait yet under the same
     * number.
     */
    private static ScriptedBackend.Options onUnusedPort() {
        return ScriptedBackend.Options.DEFAULT.onPort(FreePort.pick());
    }

    private static ProxyFixture proxy(Wish transport, ScriptedBackend backend) throws IOException {
        return ProxyFixture.on(transport)
                .endpoint(backend)
                .listen("127.0.0.1:" + FreePort.pick())
                .start();
    }

    /** As many as there are source ports, nearly: none fails. */
    @EachTransport
    @Tag("nightly")
    void tensOfThousandsOfShortConnectionsAMinuteAreAllServed(Wish transport) throws Exception {
        int count = 20_000;
        try (var backend = ScriptedBackend.start(Scripts.echo());
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            endAfterClients(proxy, count);
            assertEquals(count, proxy.sum(row -> row.sentBytes) / 4);
        }
        try (var backend = ScriptedBackend.start(ENDS_FIRST);
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            endAfterEndpoints(proxy, count);
            assertEquals(count, proxy.sum(row -> row.sentBytes) / 4);
        }
    }

    private static void endAfterClients(ProxyFixture proxy, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            try (ScriptedClient client = proxy.connect()) {
                client.send("ping");
                assertEquals("ping", client.readText(4));
                client.shutdownOutput();
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
            }
        }
        proxy.awaitNoConnections();
    }

    private static void endAfterEndpoints(ProxyFixture proxy, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            try (ScriptedClient client = proxy.connect()) {
                client.send("ping");
                assertEquals("ping", client.readText(4));
                assertEquals(End.Kind.FIN, client.readToEnd().kind());
            }
        }
        proxy.awaitNoConnections();
    }

    /** Sockets in TIME_WAIT of that port towards that one; 0 for any. */
    private static long waiting(int local, int remote) {
        return Sockets.all().stream()
                .filter(entry -> entry.state() == Sockets.State.TIME_WAIT)
                .filter(entry -> local == 0 || entry.local().getPort() == local)
                .filter(entry -> remote == 0 || entry.remote().getPort() == remote)
                .distinct()
                .count();
    }
}
