package dev.tidegate.health.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.health.Finding;
import dev.tidegate.testkit.Await;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConversationTest {
    /** A class that is missing is found to be so no sooner. */
    @Test
    void aProtocolThatCannotBeSetUpIsTheChecksOwnFaultAndNotTheTargets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                ProbeBench bench = ProbeBench.nio()) {
            Finding finding = bench.run(
                    (context, address, done) -> new Conversation(done, PoliteClose::finFirst)
                            .begin(context, address, pipeline -> {
                                throw new NoClassDefFoundError("a/b/Codec");
                            }),
                    new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));

            assertEquals(Finding.voided("the check itself failed: java.lang.NoClassDefFoundError: a/b/Codec"), finding);
            assertEquals(List.of("set-up: java.lang.NoClassDefFoundError: a/b/Codec"), bench.ownFaults());
            Await.until("it is closed", () -> bench.open() == 0);
        }
    }
}
