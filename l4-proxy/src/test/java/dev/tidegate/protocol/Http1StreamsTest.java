package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Side;
import dev.tidegate.protocol.Http1Script.Exchange;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whole connections, drawn from seeds, in pieces of any size and in any order that two peers may speak in. */
class Http1StreamsTest {
    private static final int NIGHTLY_STREAMS = 1_000_000;
    private static final byte[] CLOSE_LINE = WatchedHttp1.bytes("Connection: close\r\n");

    @Property(tries = 300)
    void everySplitOfEveryValidStreamHasTheSameEdges(@ForAll long seed) {
        watchToTheEnd(seed);
    }

    @Property(tries = 300)
    void aRetiredConnectionEndsBehindTheRightResponseAndNettyReadsTheSameFromIt(@ForAll long seed) {
        retire(seed, true);
    }

    @Property(tries = 300)
    void whateverComesNoByteIsLostOrChanged(@ForAll long seed) {
        mutate(seed);
    }

    @Test
    @Tag("nightly")
    void aMillionStreams() {
        int retired = 0;
        int opaque = 0;
        for (long seed = 0; seed < NIGHTLY_STREAMS; seed++) {
            try {
                watchToTheEnd(seed);
                retired += retire(seed, seed % 10 == 0) ? 1 : 0;
                opaque += mutate(seed) ? 1 : 0;
            } catch (AssertionError | RuntimeException failure) {
                throw new AssertionError("seed " + seed, failure);
            }
        }
        // A run in which nothing is ended, or nothing is invalid, shows nothing.
        assertTrue(retired > NIGHTLY_STREAMS / 2, "retired " + retired);
        assertTrue(opaque > NIGHTLY_STREAMS / 4, "opaque " + opaque);
        assertTrue(opaque < NIGHTLY_STREAMS * 3 / 4, "opaque " + opaque);
    }

    private static void watchToTheEnd(long seed) {
        Random random = new Random(seed);
        Http1Script script = new Http1Script(random);
        WatchedHttp1 seen = new WatchedHttp1();
        Feed feed = new Feed(script, seen, random);
        while (feed.step(script.exchanges().size() - 1)) {
            feed.checkEdges();
        }
        if (script.untilClose()) {
            assertTrue(seen.tracker().exchangeOpen());
            seen.fin(Side.UPSTREAM);
        }

        assertFalse(seen.tracker().midExchange());
        assertTrue(seen.tracker().lastWord());
        assertTrue(seen.tracker().recognised());
        assertFalse(seen.isOpaque());
        assertEquals(script.exchanges().size(), seen.requests());
        assertArrayEquals(script.requests(), seen.toEndpoint());
        assertArrayEquals(script.responses(), seen.toClient());
    }

    /** Whether it came to an end of ours. */
    private static boolean retire(long seed, boolean withNetty) {
        Random random = new Random(seed);
        Http1Script script = new Http1Script(random);
        WatchedHttp1 seen = new WatchedHttp1();
        Feed feed = new Feed(script, seen, random);
        List<Exchange> exchanges = script.exchanges();
        int retireAt = random.nextInt(8);
        int last = Integer.MAX_VALUE;
        int passedMin = 0;
        for (int step = 0; feed.step(last); step++) {
            if (step == retireAt) {
                seen.tracker().retire();
            }
            if (step >= retireAt && last == Integer.MAX_VALUE && seen.tracker().recognised()) {
                // At the first look after both: what was fed since cannot have changed the choice, see chosen().
                last = feed.chosen(step == retireAt);
                passedMin = feed.asked;
            }
        }
        if (last >= exchanges.size()) {
            assertEquals(0, seen.inserted());
            assertFalse(seen.isOver() || seen.holding());
            assertArrayEquals(script.responses(), seen.toClient());
            return false;
        }
        Exchange ended = exchanges.get(last);
        if (script.untilClose() && last == exchanges.size() - 1) {
            assertFalse(seen.isOver());
            seen.fin(Side.UPSTREAM);
        }
        assertTrue(seen.isOver());
        assertTrue(seen.tracker().told());
        assertTrue(seen.holding());
        assertFalse(seen.tracker().midExchange());
        assertEquals(last + 1, seen.requests());
        byte[] sent = seen.toEndpoint();
        assertTrue(sent.length == ended.requestEnd() || sent.length <= passedMin, "bytes behind the last request");
        assertArrayEquals(Arrays.copyOf(script.requests(), sent.length), sent);
        assertSaysClose(script, ended, seen.toClient());
        if (withNetty) {
            NettyReader.assertSameRequests(last + 1, sent);
            NettyReader.assertSameResponses(script, last, seen.toClient());
        }
        return true;
    }

    /**
     * All as it was, but for one line more within the last response's head; if that says close itself, the line is only there
     * when that could not be known in time.
     */
    private static void assertSaysClose(Http1Script script, Exchange last, byte[] toClient) {
        byte[] plain = Arrays.copyOf(script.responses(), last.responseEnd());
        if (last.saysClose() && Arrays.equals(plain, toClient)) {
            return;
        }
        for (int at = last.finalHeadEnd() - 2; at > 0; at--) {
            if (plain[at - 1] == '\n' && Arrays.equals(withClose(plain, at), toClient)) {
                return;
            }
        }
        assertArrayEquals(withClose(plain, last.finalHeadEnd() - 2), toClient);
    }

    private static byte[] withClose(byte[] plain, int at) {
        byte[] longer = new byte[plain.length + CLOSE_LINE.length];
        System.arraycopy(plain, 0, longer, 0, at);
        System.arraycopy(CLOSE_LINE, 0, longer, at, CLOSE_LINE.length);
        System.arraycopy(plain, at, longer, at + CLOSE_LINE.length, plain.length - at);
        return longer;
    }

    /** Whether it turned opaque. */
    private static boolean mutate(long seed) {
        Random random = new Random(seed);
        Http1Script script = new Http1Script(random);
        byte[] requests = random.nextBoolean() ? script.requests() : mutated(script.requests(), random);
        byte[] responses = random.nextBoolean() ? script.responses() : mutated(script.responses(), random);
        WatchedHttp1 seen = new WatchedHttp1().withCap(random.nextInt(6));
        Feed feed = new Feed(script, requests, responses, seen, random);
        int stayAt = random.nextInt(20);
        for (int step = 0; feed.step(Integer.MAX_VALUE) || feed.rest(); step++) {
            if (step == stayAt) {
                seen.tracker().stay();
            }
        }
        seen.fin(Side.DOWNSTREAM).fin(Side.UPSTREAM);

        assertTrue(!seen.isSwitched() || !seen.isOpaque());
        assertTrue(!seen.isSwitched() || !seen.isOver());
        byte[] kept = seen.held();
        byte[] sent = seen.toEndpoint();
        assertArrayEquals(Arrays.copyOf(requests, sent.length), sent);
        assertArrayEquals(Arrays.copyOfRange(requests, sent.length, requests.length), kept);
        if (seen.inserted() == 0) {
            assertArrayEquals(responses, seen.toClient());
        } else {
            assertEquals(CLOSE_LINE.length, seen.inserted());
            assertTrue(seen.tracker().told());
            assertOneLineMore(responses, seen.toClient());
        }
        return seen.isOpaque();
    }

    private static void assertOneLineMore(byte[] plain, byte[] longer) {
        assertEquals(plain.length + CLOSE_LINE.length, longer.length);
        int rest = plain.length;
        while (rest > 0 && plain[rest - 1] == longer[rest - 1 + CLOSE_LINE.length]) {
            rest--;
        }
        // All from here on is the same. The line may begin with the same bytes as what it stands before, or before.
        boolean found = false;
        for (int at = rest; at <= plain.length && !found; at++) {
            found = Arrays.equals(plain, 0, at, longer, 0, at)
                    && Arrays.equals(CLOSE_LINE, 0, CLOSE_LINE.length, longer, at, at + CLOSE_LINE.length);
        }
        assertTrue(found, "what came, and one line more");
    }

    private static byte[] mutated(byte[] valid, Random random) {
        byte[] bytes = valid.clone();
        byte[] nasty = WatchedHttp1.bytes("\r\n\u0000 \t:;,0Hh\u00ff");
        for (int i = random.nextInt(4); i > 0 && bytes.length > 1; i--) {
            int at = random.nextInt(Math.min(bytes.length, 400));
            switch (random.nextInt(4)) {
                case 0 -> bytes[at] = (byte) random.nextInt(256);
                case 1 -> bytes[at] = nasty[random.nextInt(nasty.length)];
                case 2 -> {
                    System.arraycopy(bytes, at + 1, bytes, at, bytes.length - at - 1);
                    bytes = Arrays.copyOf(bytes, bytes.length - 1);
                }
                default -> {
                    bytes = Arrays.copyOf(bytes, bytes.length + 1);
                    System.arraycopy(bytes, at, bytes, at + 1, bytes.length - at - 1);
                    bytes[at] = nasty[random.nextInt(nasty.length)];
                }
            }
        }
        return bytes;
    }

    private static int piece(Random random, int left) {
        int most =
                switch (random.nextInt(4)) {
                    case 0 -> 1;
                    case 1 -> 4;
                    case 2 -> 60;
                    default -> 3_000;
                };
        return Math.min(left, 1 + random.nextInt(most));
    }

    /** Lets both peers speak, the endpoint only in answer to what has reached it. */
    private static final class Feed {
        private final Http1Script script;
        private final WatchedHttp1 seen;
        private final Random random;
        private final List<Exchange> exchanges;
        private final byte[] requests;
        private final byte[] responses;
        private int asked;
        private int answered;
        private int answeredBefore;

        Feed(Http1Script script, WatchedHttp1 seen, Random random) {
            this(script, script.requests(), script.responses(), seen, random);
        }

        /** With other bytes than the script's: the endpoint speaks as if they were the script's. */
        Feed(Http1Script script, byte[] requests, byte[] responses, WatchedHttp1 seen, Random random) {
            this.script = script;
            this.requests = requests;
            this.responses = responses;
            this.seen = seen;
            this.random = random;
            exchanges = script.exchanges();
        }

        /** One read on one side; false: nobody has anything to say any more. The endpoint is not asked beyond the last. */
        boolean step(int last) {
            answeredBefore = answered;
            int answerable = answerable(last);
            boolean canAsk = asked < requests.length;
            boolean canAnswer = answered < answerable;
            if (canAsk && (!canAnswer || random.nextBoolean())) {
                int count = piece(random, requests.length - asked);
                seen.feed(Side.DOWNSTREAM, requests, asked, count);
                asked += count;
            } else if (canAnswer) {
                int count = piece(random, answerable - answered);
                seen.feed(Side.UPSTREAM, responses, answered, count);
                answered += count;
            }
            return canAsk || canAnswer;
        }

        /** What is left when both have said all that is the script's; false: nothing. */
        boolean rest() {
            int count = responses.length - answered;
            seen.feed(Side.UPSTREAM, responses, answered, count);
            answered += count;
            return count > 0;
        }

        private int answerable(int last) {
            int heads = heads(asked);
            return heads == 0
                    ? 0
                    : Math.min(
                            responses.length,
                            exchanges.get(Math.min(last, heads - 1)).responseEnd());
        }

        /** How many request heads end within the first bytes. */
        private int heads(int bytes) {
            int heads = 0;
            while (heads < exchanges.size() && exchanges.get(heads).requestHeadEnd() <= bytes) {
                heads++;
            }
            return heads;
        }

        /** Which exchange is to be the last, when the connection was retired behind or before (then recognised in) this read. */
        int chosen(boolean behind) {
            int bytes = behind ? answered : Math.max(answeredBefore, "HTTP/1.".length());
            int heads = heads(asked);
            boolean begun = heads < exchanges.size() && exchanges.get(heads).requestStart() < asked;
            boolean late = heads > 0 && bytes > exchanges.get(heads - 1).finalHeadEnd() - 2;
            return begun || heads == 0 || late ? heads : heads - 1;
        }

        void checkEdges() {
            int heads = heads(asked);
            assertEquals(heads, seen.requests());
            boolean open = false;
            for (int i = 0; i < heads; i++) {
                Exchange exchange = exchanges.get(i);
                boolean ends = !script.untilClose() || i < exchanges.size() - 1;
                open |= asked < exchange.requestEnd() || answered < exchange.responseEnd() || !ends;
            }
            assertEquals(open, seen.tracker().exchangeOpen());
            boolean begun = heads < exchanges.size() && exchanges.get(heads).requestStart() < asked;
            assertEquals(open || begun, seen.tracker().midExchange());
        }
    }
}
