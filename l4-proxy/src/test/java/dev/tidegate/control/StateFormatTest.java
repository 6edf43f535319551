package dev.tidegate.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.config.EndpointAddress;
import dev.tidegate.config.EndpointConfig;
import dev.tidegate.config.LogConfig.Level;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Runtime state as bytes. */
class StateFormatTest {
    /** Everything that there can be. */
    static final RuntimeState FULL = RuntimeState.EMPTY
            .withAdded("web", added("x", "10.0.0.9:80", OptionalInt.of(5)))
            .withAdded("web", added("y", "[2001:db8::1]:80", OptionalInt.empty()))
            .withDraining(new EndpointId("web", "10.0.0.1:80"), true)
            .withDisabled(new EndpointId("web", "db.internal:80"), true)
            .withWeight(new EndpointId("web", "10.0.0.9:80"), 0, 3)
            .withRemoved(new EndpointId("web", "10.0.0.7:80"))
            .withBackendDraining("web", true)
            .withBackendDraining("db", true)
            .withFrontendDraining("edge", true)
            .withLogLevel(Level.DEBUG, Level.INFO);

    private static EndpointConfig added(String name, String address, OptionalInt max) {
        return new EndpointConfig(name, EndpointAddress.parse(address), 3, max);
    }

    private static String whyNot(byte[] text) {
        return assertThrows(StateFormat.Unreadable.class, () -> StateFormat.decode(text))
                .getMessage();
    }

    private static String whyNot(String text) {
        return whyNot(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void whatIsWrittenIsReadAgain() throws Exception {
        assertEquals(FULL, StateFormat.decode(StateFormat.encode(FULL)));
        assertEquals(RuntimeState.EMPTY, StateFormat.decode(StateFormat.encode(RuntimeState.EMPTY)));
    }

    @Test
    void theTextIsOneLineThatTellsItsFormat() {
        String text = new String(StateFormat.encode(FULL), StandardCharsets.UTF_8);
        assertTrue(text.startsWith("{\"format\":1,\"sha256\":\""), text);
        assertEquals(text.length() - 1, text.indexOf('\n'));
    }

    @Test
    void noBeginningOfTheTextIsTakenForTheWhole() {
        byte[] text = StateFormat.encode(FULL);
        for (int length = 0; length < text.length; length++) {
            whyNot(Arrays.copyOf(text, length));
        }
    }

    @Test
    void noFlippedBitGoesUnnoticed() {
        byte[] text = StateFormat.encode(FULL);
        for (int bit = 0; bit < text.length * 8; bit++) {
            byte[] flipped = text.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            whyNot(flipped);
        }
    }

    @Test
    void nothingMayFollowNorStandBetween() {
        String text = new String(StateFormat.encode(FULL), StandardCharsets.UTF_8);
        whyNot(text + text);
        whyNot(text + " ");
        whyNot(" " + text);
        whyNot(text + "\0\0\0\0");
        whyNot(text.replace(":1,", ": 1,"));
    }

    @Test
    void aFileThatCannotBeReadSaysWhy() {
        assertEquals("is torn or no JSON", whyNot("{\"format\":1,"));
        assertEquals("says no format", whyNot(""));
        assertEquals("says no format", whyNot("[]"));
        assertEquals("says no format", whyNot("{\"format\":\"1\"}"));
        assertEquals("has format 2, this version reads format 1", whyNot("{\"format\":2,\"what\":\"ever\"}"));
        assertEquals("does not fit its checksum", whyNot("{\"format\":1,\"sha256\":\"00\",\"body\":{}}\n"));
        assertEquals("does not fit its checksum", whyNot("{\"format\":1}\n"));
    }

    /** A right checksum over a wrong body: written by another program, or by a fault of this one. */
    @Test
    void aBodyThatCannotBeIsRefusedAndSaysWhat() throws Exception {
        assertEquals("has no list endpoints", whyNot(sealed("{}")));
        String empty =
                "{\"endpoints\":%s,\"added\":%s,\"removed\":[],\"draining-backends\":%s,\"draining-frontends\":[]%s}";
        assertEquals(RuntimeState.EMPTY, StateFormat.decode(sealed(empty.formatted("[]", "[]", "[]", ""))));
        assertEquals("has no text backend in {}", whyNot(sealed(empty.formatted("[{}]", "[]", "[]", ""))));
        assertEquals(
                "has no truth value draining in {\"backend\":\"b\",\"address\":\"1.2.3.4:5\"}",
                whyNot(sealed(empty.formatted("[{\"backend\":\"b\",\"address\":\"1.2.3.4:5\"}]", "[]", "[]", ""))));
        assertTrue(whyNot(sealed(empty.formatted("[{\"backend\":\"b\",\"address\":\"x\"}]", "[]", "[]", "")))
                .startsWith("says what cannot be: "));
        assertTrue(whyNot(sealed(empty.formatted(
                        "[]", "[{\"backend\":\"b\",\"address\":\"1.2.3.4:5\",\"name\":\"n\"}]", "[]", "")))
                .startsWith("has no number weight in"));
        assertEquals("has 7 for a name in draining-backends", whyNot(sealed(empty.formatted("[]", "[]", "[7]", ""))));
        assertTrue(whyNot(sealed(
                        empty.formatted("[]", "[]", "[]", ",\"log-level\":{\"value\":\"loud\",\"over\":\"info\"}")))
                .startsWith("says what cannot be: "));
    }

    private static byte[] sealed(String body) throws Exception {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        String sum =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        return ("{\"format\":1,\"sha256\":\"" + sum + "\",\"body\":" + body + "}\n").getBytes(StandardCharsets.UTF_8);
    }
}
