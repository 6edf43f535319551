package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StrictRequestDecoderTest {
    private static final String GOOD = "POST /a HTTP/1.1\r\nHost: b c d\r\nX:  e \r\nContent-Length: 5\r\n\r\n\r\n f\n";

    /** The heads that come out when the bytes come in these parts. */
    private static List<HttpRequest> read(String... parts) {
        EmbeddedChannel channel = new EmbeddedChannel(new StrictRequestDecoder(8192));
        for (String part : parts) {
            channel.writeInbound(Unpooled.copiedBuffer(part, StandardCharsets.US_ASCII));
        }
        List<HttpRequest> heads = new ArrayList<>();
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            if (message instanceof HttpRequest head) {
                heads.add(head);
            }
            ReferenceCountUtil.release(message);
        }
        channel.finishAndReleaseAll();
        return heads;
    }

    @Test
    void spacesWithinLinesAndBodiesAreNoFoldsWhereverTheBytesAreSplit() {
        String two = GOOD + GOOD;
        for (int at = 1; at < two.length(); at++) {
            List<HttpRequest> heads = read(two.substring(0, at), two.substring(at));

            assertEquals(2, heads.size(), "split at " + at);
            assertTrue(heads.stream().allMatch(head -> head.decoderResult().isSuccess()), "split at " + at);
        }
        assertEquals(2, read(two.split("", -1)).size());
    }

    @Test
    void aFoldIsFoundWhereverTheBytesAreSplit() {
        String folded = GOOD + "GET /a HTTP/1.1\r\nHost: b\r\n c\r\n\r\n";
        for (int at = 1; at < folded.length(); at++) {
            List<HttpRequest> heads = read(folded.substring(0, at), folded.substring(at));

            assertEquals(2, heads.size(), "split at " + at);
            assertTrue(heads.get(1).decoderResult().isFailure(), "split at " + at);
        }
    }

    @Test
    void aFoldIsFoundBehindEmptyLinesWhereverTheBytesAreSplit() {
        for (String before : List.of("\r\n", "\r\n\r\n", "\r\n\r\n\r\n", "\u007f\r\n\r\n")) {
            String folded = before + "GET /a HTTP/1.1\r\nHost: b\r\n c\r\n\r\n";
            for (int at = 1; at < folded.length(); at++) {
                List<HttpRequest> heads = read(folded.substring(0, at), folded.substring(at));

                assertFalse(heads.isEmpty(), "split at " + at);
                assertTrue(heads.stream().noneMatch(head -> head.decoderResult().isSuccess()), "split at " + at);
            }
        }
    }

    @Test
    void emptyLinesBeforeARequestAreNoFolds() {
        for (int at = 1; at < 4; at++) {
            String text = "\r\n\r\n" + GOOD;
            List<HttpRequest> heads = read(text.substring(0, at), text.substring(at));

            assertEquals(1, heads.size(), "split at " + at);
            assertTrue(heads.get(0).decoderResult().isSuccess(), "split at " + at);
        }
    }
}
