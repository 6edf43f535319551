package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.Side;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class StreamTableTest {
    private final StreamTable table = new StreamTable(0x1234_5678);

    @Test
    void aStreamEndsWhenBothSidesHaveEndedInEitherOrder() {
        table.open(1);
        table.open(3);

        table.ended(1, Side.DOWNSTREAM);
        table.ended(3, Side.UPSTREAM);
        assertEquals(2, table.size());
        table.ended(1, Side.UPSTREAM);
        table.ended(3, Side.DOWNSTREAM);

        assertTrue(table.isEmpty());
    }

    @Test
    void aSideThatEndsTwiceEndsNothingForTheOther() {
        table.open(1);

        table.ended(1, Side.UPSTREAM);
        table.ended(1, Side.UPSTREAM);

        assertEquals(1, table.size());
    }

    @Test
    void aPromisedStreamEndsWithTheEndpointAlone() {
        table.open(2);

        table.ended(2, Side.DOWNSTREAM);
        assertEquals(1, table.size());
        table.ended(2, Side.UPSTREAM);

        assertTrue(table.isEmpty());
    }

    @Test
    void theGreatestIdsAreToldApart() {
        table.open(0x7fff_ffff);
        table.open(0x7fff_fffe);

        table.reset(0x7fff_ffff);

        assertEquals(1, table.size());
        table.reset(0x7fff_fffe);
        assertTrue(table.isEmpty());
    }

    @Test
    void takesSoManyStreamsInEightBytesEachAndNoMore() {
        openAsManyAsItTakes();

        table.open(1);

        assertEquals(StreamTable.MAX_STREAMS, table.size(), "one that is open already needs no room");
        assertTrue(table.bytes() <= 8 * StreamTable.MAX_STREAMS, () -> table.bytes() + " bytes");
    }

    @Test
    void ofMoreItLosesCountForGoodAndKeepsNothing() {
        openAsManyAsItTakes();

        table.open(2 * StreamTable.MAX_STREAMS + 1);
        for (int id = 1; id <= 2 * StreamTable.MAX_STREAMS + 1; id += 2) {
            table.ended(id, Side.DOWNSTREAM);
            table.reset(id);
        }
        table.refuseAbove(0);
        table.open(20_001);
        table.reset(20_001);

        assertFalse(table.isEmpty());
        assertEquals(0, table.bytes());
    }

    private void openAsManyAsItTakes() {
        for (int i = 0; i < StreamTable.MAX_STREAMS; i++) {
            table.open(2 * i + 1);
        }
    }

    @Test
    void givesBackWhatABurstTook() {
        openAsManyAsItTakes();
        for (int i = 0; i < StreamTable.MAX_STREAMS; i++) {
            table.reset(2 * i + 1);
        }

        assertTrue(table.bytes() <= 1_024, () -> table.bytes() + " bytes");
        table.open(9_999);
        assertEquals(1, table.size());
    }

    /** Else a client kept 32 KiB for as long as one stream of its burst was open. */
    @Test
    void aStreamThatLastsDoesNotKeepWhatABurstTook() {
        openAsManyAsItTakes();
        for (int i = 1; i < StreamTable.MAX_STREAMS; i++) {
            table.reset(2 * i + 1);
            assertEquals(StreamTable.MAX_STREAMS - i, table.size());
            int most = Math.max(1_024, 16 * table.size());
            assertTrue(table.bytes() <= most, () -> table.bytes() + " bytes of " + table);
        }

        assertEquals(1, table.size());
        table.reset(1);
        assertTrue(table.isEmpty());
    }

    @Property(tries = 50)
    void doesWhatAMapDoes(@ForAll int salt, @ForAll long seed, @ForAll @IntRange(min = 1, max = 600) int ids) {
        StreamTable tested = new StreamTable(salt);
        Map<Integer, Set<Side>> open = new HashMap<>();
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2_000; i++) {
            int id = 1 + random.nextInt(ids);
            Side side = random.nextBoolean() ? Side.DOWNSTREAM : Side.UPSTREAM;
            switch (random.nextInt(8)) {
                case 0 -> {
                    tested.reset(id);
                    open.remove(id);
                }
                case 1, 2, 3 -> {
                    tested.ended(id, side);
                    end(open, id, side);
                }
                case 4 -> {
                    if (random.nextInt(50) == 0) {
                        tested.refuseAbove(id);
                        open.keySet().removeIf(each -> each % 2 == 1 && each > id);
                    }
                }
                default -> {
                    tested.open(id);
                    open.computeIfAbsent(id, each -> new HashSet<>(each % 2 == 0 ? Set.of(Side.DOWNSTREAM) : Set.of()));
                }
            }
            assertEquals(open.size(), tested.size());
        }
        for (int id = 1; id <= ids; id++) {
            int before = tested.size();
            tested.reset(id);
            assertEquals(open.containsKey(id), tested.size() < before, "stream " + id);
        }
    }

    private static void end(Map<Integer, Set<Side>> open, int id, Side side) {
        Set<Side> ended = open.get(id);
        if (ended != null) {
            ended.add(side);
            if (ended.size() == 2) {
                open.remove(id);
            }
        }
    }
}
