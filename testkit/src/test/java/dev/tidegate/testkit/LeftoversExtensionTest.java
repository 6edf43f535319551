package dev.tidegate.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Does wrong on purpose between a test's begin and end, and looks at what the extension says. */
class LeftoversExtensionTest {
    private OpenFiles before = OpenFiles.NONE;

    @BeforeEach
    void begin() throws Exception {
        LeakGuard.installed().drain();
        before = OpenFiles.now();
    }

    @AfterEach
    void forget() {
        LeakGuard.installed().forgetExpected();
        LeakGuard.installed().drain();
    }

    private String complaint() {
        return assertThrows(AssertionError.class, () -> afterTest()).getMessage();
    }

    private void afterTest() {
        LeftoversExtension.afterTest("t", before, Duration.ofMillis(300));
    }

    @Test
    void whatIsClosedIsNoLeftover() throws Exception {
        new ServerSocket(0, 1, InetAddress.getLoopbackAddress()).close();
        assertDoesNotThrow(this::afterTest);
        assertDoesNotThrow(() -> LeftoversExtension.afterClass("c"));
    }

    @Test
    void openSocketIsReportedAfterItsTest() throws Exception {
        try (ServerSocket left = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertTrue(left.isBound());
            String complaint = complaint();
            assertTrue(complaint.matches("(?s)1 things wrong after t:.*new: \\d+ socket:\\[\\d+].*"), complaint);
        }
    }

    @Test
    void errorsAreReportedOnceWithTheirCountUnlessExpected() {
        LeakGuard.installed().expect("event=known");
        LoggerFactory.getLogger("dev.tidegate.some").error("event=known");
        assertDoesNotThrow(this::afterTest);
        LoggerFactory.getLogger("dev.tidegate.some").error("event=known");
        LoggerFactory.getLogger("dev.tidegate.some").error("event=known");
        String complaint = complaint();
        assertTrue(complaint.contains("2 times: ERROR dev.tidegate.some: event=known"), complaint);
    }

    @Test
    void leakedBufferIsReportedAfterItsClass() {
        leak(ByteBufAllocator.DEFAULT);
        String complaint = assertThrows(AssertionError.class, () -> LeftoversExtension.afterClass("c"))
                .getMessage();
        assertTrue(complaint.contains("wrong after c:") && complaint.contains("LEAK:"), complaint);
    }

    private static void leak(ByteBufAllocator allocator) {
        ByteBuf lost = allocator.directBuffer(64);
        lost.writeInt(1);
    }
}
