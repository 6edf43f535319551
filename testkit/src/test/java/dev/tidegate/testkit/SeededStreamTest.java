package dev.tidegate.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SeededStreamTest {
    @Test
    void theSameSeedGivesTheSameBytesHoweverTheyAreTaken() {
        byte[] whole = SeededStream.bytes(5, 1000);
        byte[] pieces = new byte[1000];
        SeededStream stream = new SeededStream(5);
        int at = 0;
        for (int length = 1; at < pieces.length; length = Math.min(length + 3, pieces.length - at)) {
            stream.fill(pieces, at, length);
            at += length;
        }
        assertArrayEquals(whole, pieces);
        assertNotEquals(SeededStream.sha256(5, 1000), SeededStream.sha256(6, 1000));
    }

    @Test
    void seekReachesAnyPosition() {
        byte[] tail = new byte[100];
        SeededStream stream = new SeededStream(9);
        stream.seek(333);
        stream.fill(tail, 0, 100);
        assertArrayEquals(Arrays.copyOfRange(SeededStream.bytes(9, 433), 333, 433), tail);
        assertEquals(433, stream.position());
    }

    @Test
    void mismatchTellsThePositionInTheStream() {
        byte[] damaged = SeededStream.bytes(1, 64);
        damaged[40] ^= 1;
        SeededStream stream = new SeededStream(1);
        assertEquals(-1, stream.mismatch(damaged, 0, 32));
        assertEquals(40, stream.mismatch(damaged, 32, 32));
    }

    @Test
    void hashIsThatOfTheBytes() {
        RunningHash hash = new RunningHash();
        hash.update(SeededStream.bytes(3, 100_001), 0, 100_001);
        assertEquals(hash.hex(), SeededStream.sha256(3, 100_001));
        assertEquals("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", SeededStream.sha256(3, 0));
    }
}
