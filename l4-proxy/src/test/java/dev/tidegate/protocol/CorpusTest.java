package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.model.ProtocolChoice;
import dev.tidegate.model.Side;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The kept corpus: connections, each as what its client and its endpoint send, with what they are to be taken for. Whatever
 * the splits, the outcome is the same, all is passed on as it came, and mutants of them do no harm either. What a fuzzer finds
 * is added here.
 */
class CorpusTest {
    private static final int MUTANTS = 200;

    /** A line of the index. */
    record Sample(String name, String outcome, int requests) {
        byte[] client() {
            return bytes(name + ".client");
        }

        byte[] endpoint() {
            return bytes(name + ".endpoint");
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Sample> samples() {
        return new String(bytes("index"), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(" ", -1))
                .map(words -> new Sample(words[0], words[1], Integer.parseInt(words[2])));
    }

    private static byte[] bytes(String file) {
        try (InputStream in = CorpusTest.class.getResourceAsStream("/corpus/" + file)) {
            if (in == null) {
                throw new AssertionError("the corpus has no " + file);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(file, e);
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void everySplitHasTheSameOutcome(Sample sample) {
        byte[] client = sample.client();
        byte[] endpoint = sample.endpoint();
        for (int step = 1; step <= Math.max(client.length, endpoint.length); step++) {
            CountingWire wire = shown(client, endpoint, step);
            assertEquals(sample.outcome(), outcome(wire), "in steps of " + step);
            if (!sample.outcome().equals("opaque")) {
                assertEquals(sample.requests(), wire.requests, "requests, in steps of " + step);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void mutantsArePassedOnWhole(Sample sample) {
        Random random = new Random(sample.name().hashCode());
        for (int i = 0; i < MUTANTS; i++) {
            shown(mutant(sample.client(), random), mutant(sample.endpoint(), random), 1 + random.nextInt(40));
        }
    }

    private static byte[] mutant(byte[] bytes, Random random) {
        byte[] mutant = bytes.clone();
        for (int i = random.nextInt(4); i > 0 && mutant.length > 0; i--) {
            mutant[random.nextInt(mutant.length)] = (byte) random.nextInt();
        }
        return mutant;
    }

    /** All of the client, then all of the endpoint; the wire fails when anything is done to the bytes. */
    private static CountingWire shown(byte[] client, byte[] endpoint, int step) {
        CountingWire wire = new CountingWire();
        Detection.begin(ProtocolChoice.AUTO, wire, new Random(1));
        show(wire, Side.DOWNSTREAM, client, step);
        show(wire, Side.UPSTREAM, endpoint, step);
        return wire;
    }

    private static void show(CountingWire wire, Side from, byte[] bytes, int step) {
        for (int at = 0; at < bytes.length && wire.tracker != null; at += step) {
            ByteBuf data = Unpooled.wrappedBuffer(bytes, at, Math.min(step, bytes.length - at));
            int count = data.readableBytes();
            if (wire.tracker.onBytes(from, data)) {
                assertEquals(count, data.readableBytes());
                data.release();
            } else {
                assertTrue(wire.passedWhole == count, "not all was passed on");
            }
            wire.passedWhole = 0;
        }
    }

    private static String outcome(CountingWire wire) {
        if (wire.switched > 0) {
            return "switched";
        } else if (wire.opaque > 0) {
            return "opaque";
        }
        return wire.tracker.recognised() ? wire.tracker.protocol().word() : "unknown";
    }
}
