package dev.tidegate.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.ContextInitializer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Does wrong on purpose between a test's begin and end, and looks at what the extension says. */
class InvariantsExtensionTest {
    private final InvariantsExtension invariants = new InvariantsExtension(0, Duration.ofMillis(300));

    /** For what is right in the end, which may take its time on a busy machine. */
    private final InvariantsExtension patient = new InvariantsExtension();

    @BeforeEach
    void begin() throws Exception {
        invariants.begin();
        patient.begin();
    }

    @AfterEach
    void forget() {
        LeakGuard.installed().drain();
    }

    private String complaint() {
        return assertThrows(AssertionError.class, () -> invariants.verify("t")).getMessage();
    }

    @Test
    void cleanTestPassesWithItsPeersClosedForIt() throws Exception {
        ScriptedBackend backend = patient.peer(ScriptedBackend.echo());
        ScriptedClient client = patient.peer(ScriptedClient.connect(backend.address()));
        client.send("x");
        assertEquals("x", client.readText(1));
        ByteBufAllocator.DEFAULT.directBuffer(8).release();
        patient.register("one connection", () -> backend.connections().size() == 1);
        assertDoesNotThrow(() -> patient.verify("t"));
        assertFalse(client.isOpen());
    }

    @Test
    void leakedBufferIsReported() {
        leak(ByteBufAllocator.DEFAULT);
        assertTrue(complaint().contains("LEAK:"));
    }

    @Test
    void openSocketIsReportedWithItsNumber() throws Exception {
        try (ServerSocket left = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(left.isBound());
            String complaint = complaint();
            assertTrue(complaint.matches("(?s).*file descriptors: .* new: \\d+ socket:\\[\\d+].*"), complaint);
        }
    }

    @Test
    void toleranceLetsThatManyDescriptorsStay() throws Exception {
        InvariantsExtension tolerant = new InvariantsExtension(1);
        tolerant.begin();
        try (ServerSocket left = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(left.isBound());
            assertDoesNotThrow(() -> tolerant.verify("t"));
        }
    }

    @Test
    void threadThatDiesOfAnExceptionIsReported() throws Exception {
        Thread thread = new Thread(
                () -> {
                    throw new IllegalStateException("nobody looks");
                },
                "doomed");
        Thread.UncaughtExceptionHandler reports = Thread.getDefaultUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler(reports);
        thread.start();
        thread.join();
        assertTrue(complaint().contains("uncaught in thread doomed: java.lang.IllegalStateException: nobody looks"));
    }

    @Test
    void exceptionThatNettyCanOnlyLogIsReported() {
        DefaultPromise<Void> promise = new DefaultPromise<>(GlobalEventExecutor.INSTANCE);
        promise.addListener(done -> {
            throw new IllegalStateException("in a listener");
        });
        promise.setSuccess(null);
        Await.until("the listener has thrown", promise::isDone);
        GlobalEventExecutor.INSTANCE.submit(() -> null).syncUninterruptibly();
        String complaint = complaint();
        assertTrue(complaint.contains("in a listener"), complaint);
    }

    @Test
    void ourOwnErrorsAreReportedUnlessExpected() throws Exception {
        LoggerFactory.getLogger("dev.tidegate.some").error("event=broken");
        assertTrue(complaint().contains("ERROR dev.tidegate.some: event=broken"));
        patient.begin();
        patient.expectLog("event=bro");
        LoggerFactory.getLogger("dev.tidegate.some").error("event=broken");
        LoggerFactory.getLogger("dev.tidegate.some").warn("a mere warning");
        assertDoesNotThrow(() -> patient.verify("t"));
    }

    @Test
    void configuringTheLogAnewDoesNotBlindTheGuard() throws Exception {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.reset();
        new ContextInitializer(context).autoConfig();
        LoggerFactory.getLogger("io.netty.some").warn("An exceptionCaught() event was fired");
        assertTrue(complaint().contains("exceptionCaught() event was fired"));
    }

    @Test
    void invariantIsAwaitedAfterPeersAreClosedAndBeforeTheSubjectIs() {
        List<String> order = new ArrayList<>();
        AtomicInteger looks = new AtomicInteger();
        patient.subject(() -> order.add("subject"));
        patient.peer(() -> order.add("first peer"));
        patient.peer(() -> order.add("second peer"));
        patient.register("holds at the third look", () -> {
            if (looks.incrementAndGet() < 3) {
                return false;
            }
            order.add("invariant");
            return true;
        });
        patient.verify("t");
        assertEquals(List.of("second peer", "first peer", "invariant", "subject"), order);
    }

    @Test
    void everythingWrongIsListedAtOnce() throws Exception {
        invariants.peer(() -> {
            throw new IllegalStateException("will not close");
        });
        invariants.register("cannot even be asked", () -> {
            throw new IllegalStateException("no answer");
        });
        leak(ByteBufAllocator.DEFAULT);
        LoggerFactory.getLogger("dev.tidegate.some").error("event=broken");
        try (ServerSocket left = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(left.isBound());
            String complaint = complaint();
            for (String part : List.of(
                    "5 things wrong after t", "will not close", "no answer", "LEAK:", "event=broken", "descriptors")) {
                assertTrue(complaint.contains(part), () -> part + " missing in " + complaint);
            }
        }
    }

    private static void leak(ByteBufAllocator allocator) {
        ByteBuf lost = allocator.directBuffer(64);
        lost.writeInt(1);
    }
}
