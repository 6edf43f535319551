package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TlsTrackerTest {
    private static final int APPLICATION_DATA = 23;

    private final CountingWire wire = new CountingWire();
    private final TlsTracker tracker = new TlsTracker(wire);

    private boolean shown(Side from, byte... bytes) {
        ByteBuf data = Unpooled.wrappedBuffer(bytes);
        assertTrue(tracker.onBytes(from, data), "all is passed on whole");
        assertEquals(0, data.readerIndex());
        data.release();
        return wire.opaque == 0;
    }

    private static byte[] record(int length) {
        byte[] bytes = new byte[5 + length];
        bytes[0] = APPLICATION_DATA;
        bytes[1] = 3;
        bytes[2] = 3;
        bytes[3] = (byte) (length >> 8);
        bytes[4] = (byte) length;
        return bytes;
    }

    @Test
    void aConnectionIsNotEndedWithinARecord() {
        byte[] record = record(3);
        for (int i = 0; i < record.length; i++) {
            assertFalse(tracker.midExchange() && i == 0);
            assertTrue(shown(Side.UPSTREAM, record[i]));
            assertEquals(i + 1 < record.length, tracker.midExchange(), "after byte " + i);
            assertEquals(i + 1 == record.length, tracker.endsBySilence());
        }
    }

    @Test
    void aRecordOfTheOtherDirectionCountsToo() {
        shown(Side.UPSTREAM, record(2));
        shown(Side.DOWNSTREAM, (byte) APPLICATION_DATA);

        assertTrue(tracker.midExchange());
    }

    @Test
    void anEmptyRecordIsOne() {
        shown(Side.UPSTREAM, record(0));

        assertFalse(tracker.midExchange());
    }

    @Test
    void whatIsNoRecordIsOpaqueFromThereOnAndSaidOnce() {
        assertFalse(shown(Side.UPSTREAM, (byte) 25, (byte) 3, (byte) 3));
        shown(Side.UPSTREAM, (byte) 25);

        assertEquals(1, wire.opaque);
    }

    @Test
    void aRecordLongerThanAnyMayBeIsNone() {
        assertTrue(shown(Side.UPSTREAM, (byte) 23, (byte) 3, (byte) 3, (byte) 0x48, (byte) 0));
        TlsTracker other = new TlsTracker(wire);
        ByteBuf data = Unpooled.wrappedBuffer(new byte[] {23, 3, 3, 0x48, 1});
        other.onBytes(Side.UPSTREAM, data);
        data.release();

        assertEquals(1, wire.opaque);
    }

    @Test
    void anExchangeIsCountedWhenTheClientSpeaksFirstOrAgain() {
        shown(Side.DOWNSTREAM, record(10));
        shown(Side.DOWNSTREAM, record(10));
        shown(Side.UPSTREAM, record(10));
        shown(Side.DOWNSTREAM, record(10));

        assertEquals(2, wire.requests);
    }

    @Property
    void everySplitOfRecordsShowsTheSameEdges(
            @ForAll @Size(min = 1, max = 8) List<@IntRange(max = 300) Integer> lengths,
            @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 1, max = 200) Integer> splits) {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        java.util.Set<Integer> edges = new java.util.HashSet<>(List.of(0));
        for (int length : lengths) {
            stream.writeBytes(record(length));
            edges.add(stream.size());
        }
        byte[] bytes = stream.toByteArray();
        TlsTracker split = new TlsTracker(wire);
        int at = 0;
        for (int i = 0; at < bytes.length; i++) {
            int step = Math.min(splits.get(i % splits.size()), bytes.length - at);
            ByteBuf data = Unpooled.wrappedBuffer(bytes, at, step);
            split.onBytes(Side.UPSTREAM, data);
            data.release();
            at += step;
            assertEquals(!edges.contains(at), split.midExchange(), "at " + at);
        }
        assertEquals(0, wire.opaque);
    }
}
