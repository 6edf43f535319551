package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class DetectionTest {
    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};

    private final CountingWire wire = new CountingWire();

    private void begin(ProtocolChoice choice) {
        Detection.begin(choice, wire, RandomGenerator.getDefault());
    }

    private void client(String text) {
        shown(Side.DOWNSTREAM, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private void shown(Side from, byte[] bytes) {
        if (wire.tracker != null) {
            ByteBuf data = Unpooled.wrappedBuffer(bytes);
            assertTrue(wire.tracker.onBytes(from, data), "passed on whole");
            data.release();
        }
    }

    @Test
    void thePrefaceSplitAtAnyByteIsHttp2() {
        for (int split = 1; split < PREFACE.length(); split++) {
            begin(ProtocolChoice.AUTO);
            client(PREFACE.substring(0, split));
            assertInstanceOf(Detection.class, wire.tracker, "after " + split);
            client(PREFACE.substring(split));
            assertInstanceOf(Http2Tracker.class, wire.tracker, "after " + split);
            shown(Side.UPSTREAM, SETTINGS);
            assertTrue(wire.tracker.recognised(), "after " + split);
        }
    }

    @Test
    void aServerOfHttp2MaySpeakFirst() {
        begin(ProtocolChoice.AUTO);
        shown(Side.UPSTREAM, SETTINGS);
        client(PREFACE.substring(0, 3));
        client(PREFACE.substring(3));

        assertTrue(wire.tracker.recognised());
    }

    @Test
    void aMethodThatBeginsAsThePrefaceDoesIsHttp1() {
        for (String method : new String[] {"GET", "POST", "PRIVATE", "PRI", "PROPFIND"}) {
            for (int split = 1; split < 10; split++) {
                begin(ProtocolChoice.AUTO);
                String request = method + " / HTTP/1.1\r\nHost: a\r\n\r\n";
                client(request.substring(0, split));
                client(request.substring(split));
                shown(Side.UPSTREAM, "HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

                assertInstanceOf(Http1Tracker.class, wire.tracker, method);
                assertTrue(wire.tracker.recognised(), method + " split at " + split);
                assertEquals(0, wire.opaque);
            }
        }
    }

    /** The array through which heads are read is the thread's, and keeps the bytes of the connection before. */
    @Test
    void whatWasReadOfAnotherConnectionIsNotTakenForThisOnes() {
        for (String left : new String[] {"\r", "\n", " ", "\0"}) {
            Http1Tracker other = new Http1Tracker(new CountingWire());
            ByteBuf stale = Unpooled.copiedBuffer(left, StandardCharsets.ISO_8859_1);
            other.onBytes(Side.DOWNSTREAM, stale);
            stale.release();
            begin(ProtocolChoice.AUTO);
            client("GET / HTTP/1.1\r\nHost: a\r\n\r\n");

            assertEquals(1, wire.requests, "after " + (int) left.charAt(0));
            wire.requests = 0;
        }
    }

    @Test
    void aHandshakeIsTls() {
        begin(ProtocolChoice.AUTO);
        shown(Side.DOWNSTREAM, new byte[] {22, 3, 1, 0, 1, 1});

        assertInstanceOf(TlsTracker.class, wire.tracker);
        assertEquals(0, wire.opaque);
    }

    @Test
    void anEndpointThatSpeaksFirstInAnotherWayIsOpaque() {
        begin(ProtocolChoice.AUTO);
        shown(Side.UPSTREAM, "220 ready\r\n".getBytes(StandardCharsets.US_ASCII));

        assertNull(wire.tracker);
        assertEquals(1, wire.opaque);
    }

    /** oven-sh/bun#40137: a part of the preface, then something else. */
    @Test
    void aPartOfThePrefaceAndThenSomethingElseIsOpaque() {
        begin(ProtocolChoice.AUTO);
        client("PRI * HT");
        assertInstanceOf(Detection.class, wire.tracker);
        client("\0\0\0");

        assertNull(wire.tracker);
        assertEquals(1, wire.opaque);
    }

    @Test
    void whatIsAskedForAloneIsLookedForAlone() {
        begin(ProtocolChoice.HTTP1);
        assertInstanceOf(Http1Tracker.class, wire.tracker);
        client(PREFACE);
        assertNull(wire.tracker);

        begin(ProtocolChoice.HTTP2);
        assertInstanceOf(Http2Tracker.class, wire.tracker);
        client("GET / HTTP/1.1\r\n\r\n");
        assertNull(wire.tracker);

        begin(ProtocolChoice.TCP);
        assertNull(wire.tracker);
    }
}
