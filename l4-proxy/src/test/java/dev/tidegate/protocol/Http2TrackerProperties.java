package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Side;
import dev.tidegate.protocol.Http2Script.Said;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the HTTP/2 tracker does on any valid connection, and on any other; Netty's frame reader is the witness. */
class Http2TrackerProperties {
    @Property(tries = 200)
    @net.jqwik.api.Tag("slow")
    void seesTheStreamsThatNettySeesHoweverTheBytesAreSplit(
            @ForAll long seed, @ForAll @IntRange(min = 5, max = 120) int length) {
        watch(new SplittableRandom(seed), length);
    }

    @Property(tries = 300)
    @net.jqwik.api.Tag("slow")
    void everyConnectionIsEndedBetweenTwoStreams(@ForAll long seed, @ForAll @IntRange(min = 0, max = 100) int length) {
        retire(new SplittableRandom(seed), length);
    }

    @Property(tries = 100)
    void theLastWordIsSaidOnEdgesOnly(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int length) {
        SplittableRandom random = new SplittableRandom(seed);
        Http2Wire wire = new Http2Wire(seed);
        Http2Script script = new Http2Script(random);
        try (NettyReading netty = new NettyReading()) {
            for (int i = 0; i < length || !wire.tracker.recognised(); i++) {
                Said said = script.next();
                netty.read(said.by(), said.bytes());
                wire.show(said.by(), said.bytes());
            }
            Said said = script.next();
            byte[] part = Arrays.copyOf(said.bytes(), random.nextInt(said.bytes().length + 1));
            boolean onEdge = part.length == 0 || netty.read(said.by(), part) || said.by() == Side.DOWNSTREAM;
            wire.show(said.by(), part);

            assertEquals(onEdge, wire.tracker.lastWord());
            assertTrue(onEdge || wire.insertions.isEmpty());
        }
        try (NettyReading client = new NettyReading()) {
            boolean whole = client.read(Side.UPSTREAM, wire.toClient());
            assertTrue(!wire.tracker.told() || (whole && !client.goaways.isEmpty()), "the client is told, by whomever");
        }
    }

    @Property(tries = 400)
    void whateverComesPassesUntouched(@ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int length) {
        mutate(new SplittableRandom(seed), length);
    }

    @Property(tries = 200)
    void whateverFollowsThePrefacePassesUntouched(
            @ForAll byte[] client, @ForAll byte[] endpoint, @ForAll boolean retiring) {
        Http2Wire wire = new Http2Wire();
        if (retiring) {
            wire.greeted();
            wire.tracker.retire();
        } else {
            wire.client(Http2Bytes.PREFACE);
        }
        wire.client(client);
        wire.endpoint(endpoint);
        letGo(wire);

        assertArrayEquals(wire.fromClient(), wire.toEndpoint());
        assertArrayEquals(wire.fromEndpoint(), wire.toClientOfEndpoint());
    }

    @Test
    @Tag("nightly")
    void isNeverWrongAboutAMillionStreams() {
        SplittableRandom random = new SplittableRandom(0x7469_6465_6761_7465L);
        long watched = 0;
        while (watched < 500_000) {
            watched += watch(random.split(), 2_000);
        }
        long retired = 0;
        while (retired < 500_000) {
            retired += retire(random.split(), 300);
        }
        for (int i = 0; i < 20_000; i++) {
            mutate(random.split(), 60);
        }
    }

    /** Returns how many streams there were. */
    private static int watch(SplittableRandom random, int length) {
        Http2Wire wire = new Http2Wire(random.nextLong());
        Http2Script script = new Http2Script(random);
        try (NettyReading netty = new NettyReading()) {
            for (int i = 0; i < length || !wire.tracker.recognised(); i++) {
                Said said = script.next();
                assertTrue(netty.read(said.by(), said.bytes()));
                feed(wire, said, random);

                assertEquals(netty.openStreams() > 0, wire.tracker.exchangeOpen(), "a stream is open");
                assertEquals(netty.openStreams() > 0, wire.tracker.midExchange(), "both sides stand on an edge");
                if (wire.tracker.recognised()) {
                    assertEquals(netty.requests.size(), wire.requests);
                }
            }
            assertEquals(script.requests(), wire.requests);
            assertEquals(0, wire.opaques);
            assertEquals(0, wire.takenOver);
            assertArrayEquals(wire.fromClient(), wire.toEndpoint());
            assertArrayEquals(wire.fromEndpoint(), wire.toClient());
        }
        return script.requests();
    }

    private static void feed(Http2Wire wire, Said said, SplittableRandom random) {
        int piece =
                switch (random.nextInt(4)) {
                    case 0 -> 1;
                    case 1 -> said.bytes().length;
                    default -> 1 + random.nextInt(20);
                };
        int at = 0;
        while (at < said.bytes().length) {
            int end = Math.min(
                    said.bytes().length, at + (piece == 1 && at < 100 ? 1 : Math.max(piece, said.bytes().length / 50)));
            wire.show(said.by(), Arrays.copyOfRange(said.bytes(), at, end));
            at = end;
        }
    }

    /** Retires a connection somewhere in the middle of a byte sequence, and returns how many streams there were. */
    private static int retire(SplittableRandom random, int length) {
        Http2Wire wire = new Http2Wire(random.nextLong());
        Http2Script script = new Http2Script(random);
        ByteArrayOutputStream withoutAck = new ByteArrayOutputStream();
        int acknowledgeIn = -1;
        boolean acknowledged = false;
        for (int i = 0; wire.overs == 0; i++) {
            assertTrue(i < length + 10_000, "a connection whose client has nothing more to say comes to its end");
            if (i == length) {
                // Anywhere in the next thing that is said.
                Said said = script.next();
                int at = random.nextInt(said.bytes().length + 1);
                wire.show(said.by(), Arrays.copyOf(said.bytes(), at));
                wire.tracker.retire();
                wire.show(said.by(), Arrays.copyOfRange(said.bytes(), at, said.bytes().length));
                keep(withoutAck, said);
            } else if (acknowledgeIn == 0 && !acknowledged) {
                byte[] ack = wire.ack();
                acknowledged = true;
                script.stopOpening();
                feed(wire, new Said(Side.DOWNSTREAM, ack), random);
            } else {
                Said said = script.next();
                feed(wire, said, random);
                keep(withoutAck, said);
            }
            if (wire.pinged()) {
                acknowledgeIn = acknowledgeIn < 0 ? random.nextInt(30) : Math.max(0, acknowledgeIn - 1);
            }
        }
        assertTrue(acknowledged || script.endpointNamedTheLastStream(), "the client knows");
        assertTrue(script.idle(), "nothing was under way");
        assertEquals(script.requests(), wire.requests);
        assertEquals(1, wire.overs);
        assertEquals(0, wire.unheeded);
        assertEquals(0, wire.opaques);
        assertArrayEquals(withoutAck.toByteArray(), wire.toEndpoint());
        assertArrayEquals(wire.fromEndpoint(), wire.toClientOfEndpoint());
        assertInsertedOnEdges(wire);
        assertClientCanRead(wire, script);
        return script.requests();
    }

    private static void keep(ByteArrayOutputStream withoutAck, Said said) {
        if (said.by() == Side.DOWNSTREAM) {
            withoutAck.writeBytes(said.bytes());
        }
    }

    private static void assertInsertedOnEdges(Http2Wire wire) {
        byte[] said = wire.fromEndpoint();
        Set<Integer> edges = new HashSet<>();
        try (NettyReading netty = new NettyReading()) {
            for (int i = 0; i < said.length; i++) {
                if (netty.read(Side.UPSTREAM, new byte[] {said[i]})) {
                    edges.add(i + 1);
                }
            }
        }
        for (Http2Wire.Insertion insertion : wire.insertions) {
            assertTrue(edges.contains(insertion.at()), () -> insertion.at() + " is within a frame");
        }
    }

    /** The client can read it all, and is told of a last stream that never rises and is the right one in the end. */
    private static void assertClientCanRead(Http2Wire wire, Http2Script script) {
        try (NettyReading netty = new NettyReading()) {
            assertTrue(netty.read(Side.UPSTREAM, wire.toClient()), "ends on an edge");
            assertEquals(
                    netty.goaways.stream().sorted(Comparator.reverseOrder()).toList(), netty.goaways);
            assertEquals(script.highestId(), netty.goaways.get(netty.goaways.size() - 1));
            assertTrue(!wire.pinged() || netty.pings.contains(wire.pingPayload()));
        }
    }

    /** A valid connection, damaged: nothing but its fate may differ. */
    private static void mutate(SplittableRandom random, int length) {
        Http2Wire wire = new Http2Wire(random.nextLong());
        Http2Script script = new Http2Script(random);
        int retireAt = random.nextInt(2 * length);
        byte[] ack = null;
        for (int i = 0; i < length; i++) {
            Said said = script.next();
            feed(wire, random.nextInt(8) == 0 ? new Said(said.by(), damaged(said.bytes(), random)) : said, random);
            if (i == retireAt && wire.opaques == 0) {
                wire.tracker.retire();
            }
            if (ack == null && wire.pinged() && random.nextInt(4) == 0) {
                ack = wire.ack();
                feed(wire, new Said(Side.DOWNSTREAM, random.nextBoolean() ? ack : damaged(ack, random)), random);
            }
        }
        if (wire.opaques == 0 && random.nextBoolean()) {
            wire.tracker.lastWord();
        } else {
            letGo(wire);
        }

        assertArrayEquals(wire.fromEndpoint(), wire.toClientOfEndpoint());
        assertOnlyTheAckIsMissing(wire);
    }

    private static byte[] damaged(byte[] bytes, SplittableRandom random) {
        byte[] damaged = bytes.clone();
        int at = random.nextInt(bytes.length);
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(bytes, at);
            case 1 -> Arrays.copyOfRange(bytes, at, bytes.length);
            case 2 -> Http2Bytes.join(bytes, Arrays.copyOf(bytes, at));
            default -> {
                damaged[random.nextInt(Math.min(9, bytes.length))] ^= (byte) (1 << random.nextInt(8));
                yield damaged;
            }
        };
    }

    private static void letGo(Http2Wire wire) {
        if (wire.opaques == 0) {
            wire.tracker.onFin(Side.DOWNSTREAM);
            wire.tracker.onFin(Side.UPSTREAM);
        }
    }

    private static void assertOnlyTheAckIsMissing(Http2Wire wire) {
        byte[] said = wire.fromClient();
        byte[] passed = wire.toEndpoint();
        if (said.length == passed.length) {
            assertArrayEquals(said, passed);
            return;
        }
        byte[] ack = wire.ack();
        assertEquals(said.length - ack.length, passed.length, "bytes that are missing");
        int at = Arrays.mismatch(said, passed);
        // The bytes behind the acknowledgement may begin as it does: it stood at the mismatch or a little before.
        boolean found = false;
        for (int start = Math.max(0, at - ack.length); start <= at && !found; start++) {
            found = Arrays.equals(said, start, start + ack.length, ack, 0, ack.length)
                    && Arrays.equals(said, start + ack.length, said.length, passed, start, passed.length);
        }
        assertTrue(found, "what is missing is the acknowledgement");
        assertFalse(wire.insertions.isEmpty());
    }
}
