package dev.tidegate.cli;

import dev.tidegate.testkit.ScriptedClient;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An endpoint of the demo. */
class DemoEndpointTest {
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final String SETTINGS = "\0\0\0\4\0\0\0\0\0";

    /** Nothing of it is for the person who looks at the demo; a warning would fail the test. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "PR",
                "GET / HTTP/1.1\r\n",
                PREFACE,
                PREFACE + SETTINGS,
                // A request whose fields cannot be read.
                PREFACE + SETTINGS + "\0\0\1\1\4\0\0\0\1\7"
            })
    void aPeerThatBreaksOffIsNoNews(String said) throws IOException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            DemoEndpoint endpoint = new DemoEndpoint("e", group.next());
            endpoint.open();
            try (ScriptedClient client = ScriptedClient.connect(endpoint.address())) {
                client.send(said);
                client.awaitAcknowledged();
                client.reset();
            }
            // Behind what came before it: the reset has been seen when this one is answered.
            try (ScriptedClient next = ScriptedClient.connect(endpoint.address())) {
                next.send("GET / HTTP/1.1\r\nHost: e\r\n\r\n");
                next.readText("HTTP/1.1 200 OK".length());
            }
            endpoint.close();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
