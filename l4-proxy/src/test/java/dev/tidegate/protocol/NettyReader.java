package dev.tidegate.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.FullHttpMessage;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.HttpStatusClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Netty's own decoders as a second opinion on where messages begin and end, and on what stands in them. */
final class NettyReader {
    private static final int BODY_MAX = 1 << 20;

    private NettyReader() {}

    static void assertSameRequests(int count, byte[] bytes) {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpRequestDecoder(config()), aggregator());
        assertEquals(count, read(channel, bytes).size(), "requests that Netty sees");
    }

    /** The same responses as the script's, and one close, in the last. */
    static void assertSameResponses(Http1Script script, int last, byte[] toClient) {
        int end = script.exchanges().get(last).responseEnd();
        List<FullHttpMessage> wanted = responses(script, Arrays.copyOf(script.responses(), end));
        List<FullHttpMessage> got = responses(script, toClient);
        assertEquals(last + 1, got.size(), "final responses that Netty sees");
        for (int i = 0; i <= last; i++) {
            FullHttpResponse one = (FullHttpResponse) got.get(i);
            FullHttpResponse other = (FullHttpResponse) wanted.get(i);
            assertEquals(other.status(), one.status());
            assertEquals(other.content(), one.content());
            assertEquals(other.trailingHeaders(), one.trailingHeaders());
            boolean closes = one.headers().containsValue(HttpHeaderNames.CONNECTION, "close", true);
            assertEquals(i == last || script.exchanges().get(i).saysClose(), closes);
            if (i == last && !one.headers().equals(other.headers())) {
                List<String> options = new ArrayList<>(one.headers().getAll(HttpHeaderNames.CONNECTION));
                assertTrue(options.remove("close"));
                one.headers().set(HttpHeaderNames.CONNECTION, options);
            }
            assertEquals(other.headers(), one.headers());
        }
    }

    private static List<FullHttpMessage> responses(Http1Script script, byte[] bytes) {
        List<Boolean> heads = new ArrayList<>();
        script.exchanges().forEach(exchange -> heads.add(exchange.head()));
        EmbeddedChannel channel = new EmbeddedChannel(new ToRequests(heads), aggregator());
        return read(channel, bytes);
    }

    private static HttpDecoderConfig config() {
        return new HttpDecoderConfig().setAllowDuplicateContentLengths(true);
    }

    private static HttpObjectAggregator aggregator() {
        return new HttpObjectAggregator(BODY_MAX);
    }

    private static List<FullHttpMessage> read(EmbeddedChannel channel, byte[] bytes) {
        channel.writeInbound(Unpooled.wrappedBuffer(bytes));
        channel.finish();
        List<FullHttpMessage> messages = new ArrayList<>();
        for (Object read = channel.readInbound(); read != null; read = channel.readInbound()) {
            FullHttpMessage message = (FullHttpMessage) read;
            assertTrue(message.decoderResult().isSuccess(), () -> message.toString());
            boolean interim = message instanceof HttpResponse response
                    && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            if (!interim) {
                messages.add(message.replace(Unpooled.copiedBuffer(message.content())));
            }
            message.release();
        }
        return messages;
    }

    /** Knows of each final response whether it answers a HEAD. */
    private static final class ToRequests extends HttpResponseDecoder {
        private final List<Boolean> heads;
        private int next;

        ToRequests(List<Boolean> heads) {
            super(config());
            this.heads = heads;
        }

        @Override
        protected boolean isContentAlwaysEmpty(HttpMessage message) {
            boolean interim = ((HttpResponse) message).status().codeClass() == HttpStatusClass.INFORMATIONAL;
            boolean toHead = !interim && heads.get(next++);
            return toHead || super.isContentAlwaysEmpty(message);
        }
    }
}
