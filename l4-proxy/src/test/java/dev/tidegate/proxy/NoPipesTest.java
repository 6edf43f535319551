package dev.tidegate.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.testkit.ScriptedBackend;
import dev.tidegate.testkit.ScriptedClient;
import dev.tidegate.testkit.Scripts;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;

/** Bytes move by read and write. splice(2) would need a pipe for each direction, and with it come netty/netty#12123. */
class NoPipesTest {
    private static Set<String> pipes() throws IOException {
        Set<String> pipes = new TreeSet<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path each : open) {
                try {
                    String what = Files.readSymbolicLink(each).toString();
                    if (what.startsWith("pipe:")) {
                        pipes.add(what);
                    }
                } catch (NoSuchFileException closedMeanwhile) {
                    // Such as the one that lists the directory.
                }
            }
        }
        return pipes;
    }

    @EachTransport
    @Tag("slow")
    void connectionsThatMoveBytesHaveNoPipes(Wish transport) throws IOException {
        Set<String> before = pipes();
        try (var backend = ScriptedBackend.neverReading();
                var streaming = ScriptedBackend.start(Scripts.streamForever(1));
                var proxy = ProxyFixture.on(transport)
                        .endpoint(backend)
                        .endpoint(streaming)
                        .start();
                ScriptedClient up = proxy.connect();
                ScriptedClient down = proxy.connect()) {
            up.send(new byte[64 * 1024]);
            down.readExactly(1024 * 1024);

            Set<String> more = pipes();
            more.removeAll(before);
            assertEquals(Set.of(), more);
            up.reset();
            down.reset();
            proxy.awaitNoConnections();
        }
    }
}
