package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.Side;
import dev.tidegate.testkit.Await;
import dev.tidegate.testkit.End;
import dev.tidegate.testkit.Ending;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import dev.tidegate.testkit.SeededStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** FIN stays FIN and RST stays RST, in both directions, on every transport, and no byte is lost on the way. */
class EndingsTest {
    private static final int MIB = 1024 * 1024;

    /** envoyproxy/envoy#2067, traefik/traefik#5366. */
    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void finFromClientReachesEndpointAfterItsLastByteAndTheAnswerComesBack(Wish transport) throws Exception {
        byte[] answer = SeededStream.bytes(7, MIB);
        try (var backend = ScriptedBackend.start(Scripts.readToEndThenReply(answer));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                var client = proxy.connect()) {
            client.sendSeeded(3, 300_000);
            client.shutdownOutput();
            End end = client.readToEnd();

            assertEquals(End.Kind.FIN, end.kind());
            assertEquals(SeededStream.sha256(7, MIB), end.sha256());
            assertEquals(SeededStream.sha256(3, 300_000), backend.connection(0).sha256());
            var record = proxy.awaitOnlyRecord();
            assertEquals(CloseReason.CLIENT_CLOSED, record.reason);
            assertEquals(Side.DOWNSTREAM, record.closedBy);
            assertEquals(300_000, record.bytesReceived);
            assertEquals(MIB, record.bytesSent);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void finFromEndpointReachesClientWhoCanStillSend(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.sendThenFin(5, MIB));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                var client = proxy.connect()) {
            End end = client.readToEnd();
            assertEquals(End.Kind.FIN, end.kind());
            assertEquals(SeededStream.sha256(5, MIB), end.sha256());
            client.sendSeeded(9, MIB);
            client.shutdownOutput();
            backend.awaitAllDone();

            assertEquals(SeededStream.sha256(9, MIB), backend.connection(0).sha256());
            assertEquals(Ending.FIN, backend.connection(0).ending());
            assertEquals(CloseReason.ENDPOINT_CLOSED, proxy.awaitOnlyRecord().reason);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void rstFromClientReachesEndpoint(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.readToEnd());
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                var client = proxy.connect()) {
            client.sendSeeded(1, 1000);
            backend.awaitConnections(1);
            Await.until("bytes there", () -> backend.connection(0).bytesReceived() == 1000);
            client.reset();
            backend.awaitAllDone();

            assertEquals(Ending.RST, backend.connection(0).ending());
            assertEquals(CloseReason.CLIENT_RESET, proxy.awaitOnlyRecord().reason);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void rstFromEndpointReachesClientAfterTheBytesBeforeIt(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.start(Scripts.rstAfterWriting(2, 100_000));
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                var client = proxy.connect()) {
            End end = client.readToEnd();

            assertEquals(End.Kind.RST, end.kind());
            assertEquals(100_000, end.bytes());
            assertEquals(SeededStream.sha256(2, 100_000), end.sha256());
            assertEquals(CloseReason.ENDPOINT_RESET, proxy.awaitOnlyRecord().reason);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Wish.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    @Tag("slow")
    void aClientWhoseEndpointRefusesSeesAReset(Wish transport) throws Exception {
        try (var backend = ScriptedBackend.refusing();
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            assertEquals(End.Kind.RST, client.readToEnd().kind());
            assertEquals(CloseReason.DIAL_REFUSED, proxy.awaitOnlyRecord().reason);
            assertEquals(3, proxy.awaitOnlyRecord().attempts);
        }
    }
}
