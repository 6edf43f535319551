package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/**
 * What the worker allocates on the heap: nothing for a read, and so much for a connection. On io_uring Netty makes an object for
 * each operation that it submits, and on nio the JDK (25) does for each of its own, in the code of the compiler that tests run with.
 */
class AllocationTest {
    private static final int EXCHANGES = 4_000;
    private static final int CONNECTIONS = 500;
    private static final long OPERATION_BYTES_MAX = 96;
    private static final int PING_BYTES = 64;

    private final ResourceLeakDetector.Level leaks = ResourceLeakDetector.getLevel();

    /** A record for each use of a buffer would be all that is seen. */
    @BeforeEach
    void traceNoBuffers() {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }

    @AfterEach
    void asBefore() {
        ResourceLeakDetector.setLevel(leaks);
    }

    @EachTransport
    @Tag("slow")
    void aReadAllocatesNothing(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport).endpoint(backend).start();
                ScriptedClient client = proxy.connect()) {
            WorkerCpu worker = WorkerCpu.find();
            exchange(client);
            long before = worker.allocatedBytes();
            exchange(client);
            long allocated = worker.allocatedBytes() - before;

            // Two reads and two writes each. What the machine itself allocates now and then is no matter of theirs.
            long each = transport == Wish.EPOLL ? 1 : 4 * OPERATION_BYTES_MAX;
            assertTrue(allocated < EXCHANGES * each, EXCHANGES + " exchanges allocated " + allocated + " bytes");
        }
    }

    private static void exchange(ScriptedClient client) throws IOException {
        byte[] ping = new byte[PING_BYTES];
        for (int i = 0; i < EXCHANGES; i++) {
            client.send(ping);
            client.skip(PING_BYTES);
        }
    }

    @EachTransport
    @Tag("slow")
    void aConnectionAllocatesABoundedNumberOfBytes(Wish transport) throws IOException {
        try (var backend = ScriptedBackend.echo();
                var proxy = ProxyFixture.on(transport).endpoint(backend).start()) {
            WorkerCpu worker = WorkerCpu.find();
            connect(proxy);
            long before = worker.allocatedBytes();
            connect(proxy);
            long each = (worker.allocatedBytes() - before) / CONNECTIONS;

            long most = transport == Wish.IO_URING ? 12_000 : 9_500;
            assertTrue(each > 500, each + " bytes cannot be all");
            assertTrue(each <= most, "a connection allocates " + each + " bytes");
        }
    }

    private static void connect(ProxyFixture proxy) throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            try (ScriptedClient client = proxy.connect()) {
                client.send("ping");
                client.skip(4);
            }
        }
        proxy.awaitNoConnections();
    }
}
