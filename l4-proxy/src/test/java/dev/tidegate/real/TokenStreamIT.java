package dev.tidegate.real;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.listener.TransportChoice.Wish;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.proxy.ProxyFixture;
import dev.tidegate.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Streams of tokens over TLS, longer than their connections are to live: none is cut in a pause between two tokens, and each
 * connection is ended soon after its stream.
 *
 * <p>Gaps between tokens are log-normal, median 40 ms, 99th percentile 300 ms, with one pause in the middle: 2 s in streams of
 * a minute, 1 s in streams of 10 s, whose few tokens show less of how long pauses may be.
 */
@Tag("clock")
class TokenStreamIT {
    private static final Duration KEPT_MOST = Duration.ofSeconds(10);
    private static final int AT_ONCE = 10;

    @TempDir
    static Path directory;

    private static SelfSigned pair;

    @BeforeAll
    static void makePair() throws Exception {
        pair = SelfSigned.in(directory);
    }

    /** All transports at once: streams mostly wait. */
    @Test
    @Tag("slow")
    void noStreamIsCut() throws Exception {
        TokenStreams.Shape shape = new TokenStreams.Shape(Duration.ofSeconds(10), Duration.ofSeconds(1));
        List<Run> runs = new ArrayList<>();
        try {
            for (Wish transport : List.of(Wish.IO_URING, Wish.EPOLL, Wish.NIO)) {
                runs.add(new Run(transport, shape));
            }
            runs.forEach(run -> run.open(30, 1));
            for (Run run : runs) {
                run.awaitEnds();
                run.check();
            }
        } finally {
            runs.forEach(Run::close);
        }
    }

    @EachTransport
    @Tag("nightly")
    void noneOfAThousandStreamsOfAMinuteIsCut(Wish transport) throws Exception {
        TokenStreams.Shape shape = new TokenStreams.Shape(Duration.ofMinutes(1), Duration.ofSeconds(2));
        try (Run run = new Run(transport, shape)) {
            for (int batch = 0; batch < 4; batch++) {
                run.open(250, 1 + 250L * batch);
                run.awaitEnds();
            }
            run.check();
        }
    }

    /** An endpoint, a proxy before it, and the streams that went through it. */
    private static final class Run implements AutoCloseable {
        private final Wish transport;
        private final TokenStreams.Shape shape;
        private final TokenStreams endpoint;
        private final ProxyFixture proxy;
        private final List<TokenStreams.Stream> streams = new ArrayList<>();

        Run(Wish transport, TokenStreams.Shape shape) throws Exception {
            this.transport = transport;
            this.shape = shape;
            endpoint = TokenStreams.start(pair, shape);
            proxy = ProxyFixture.on(transport)
                    .endpoint("{address: \"" + endpoint.hostPort() + "\"}")
                    .frontend("lifetime: {max-age: 5s, quiet: 500ms}")
                    .start();
        }

        /** A few at a time: a hundred handshakes at once take longer than connections live here. */
        void open(int count, long firstSeed) {
            for (int opened = 0; opened < count; opened += AT_ONCE) {
                List<TokenStreams.Stream> some = endpoint.open(proxy.address(), AT_ONCE, firstSeed + opened);
                streams.addAll(some);
                Await.until(
                        transport + ": streams have begun",
                        KEPT_MOST.multipliedBy(2),
                        () -> some.stream().allMatch(stream -> stream.tokens() > 0));
            }
        }

        void awaitEnds() {
            Duration bound = shape.length().multipliedBy(2).plus(KEPT_MOST.multipliedBy(2));
            Await.until(
                    transport + ": every connection is ended",
                    bound,
                    () -> streams.stream().allMatch(TokenStreams.Stream::closed));
        }

        void check() {
            long truncated = streams.stream()
                    .filter(stream -> stream.truncated() || stream.outOfOrder() || stream.fault() != null)
                    .count();
            long tokens =
                    streams.stream().mapToLong(TokenStreams.Stream::tokens).sum();
            List<Duration> kept = streams.stream()
                    .filter(stream -> !stream.truncated())
                    .map(TokenStreams.Stream::keptAfterEnd)
                    .sorted()
                    .toList();
            proxy.awaitNoConnections();
            long quiet = proxy.sum(row -> row.retired(CloseReason.MAX_AGE, RetireHow.QUIET));
            Duration longest = kept.isEmpty() ? Duration.ZERO : kept.get(kept.size() - 1);
            System.out.println(transport + " token streams of " + Await.words(shape.length()) + ": streams="
                    + streams.size() + " tokens=" + tokens + " truncated=" + truncated + " retired=" + quiet
                    + " kept after the end: median="
                    + (kept.isEmpty() ? null : kept.get(kept.size() / 2).toMillis())
                    + " ms, longest=" + longest.toMillis() + " ms");

            assertAll(
                    () -> assertEquals(0, truncated, "streams cut, out of order or failed"),
                    () -> assertEquals(streams.size(), quiet, "retired in a quiet moment"),
                    () -> assertTrue(longest.compareTo(KEPT_MOST) <= 0, () -> "one was kept for " + longest),
                    () -> assertTrue(tokens > streams.size() * shape.length().toMillis() / 100, "too few tokens"));
        }

        @Override
        public void close() {
            endpoint.close();
            proxy.close();
        }
    }
}
