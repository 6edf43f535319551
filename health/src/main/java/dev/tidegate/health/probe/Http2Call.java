package dev.tidegate.health.probe;

import dev.tidegate.health.Finding;
import dev.tidegate.health.Probe;
import dev.tidegate.health.ProbeContext;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2ChannelDuplexHandler;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameStream;
import io.netty.handler.codec.http2.Http2FrameStreamException;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/**
 * One request and its answer by HTTP/2 in cleartext with prior knowledge, on a connection of its own that ends by GOAWAY.
 * Confined to the loop.
 */
final class Http2Call implements Probe.Run {
    private static final String HTTP1_IN_HEX = "485454502f";

    private final Conversation conversation;
    private Http2FrameStream stream;
    private boolean answered;

    private Http2Call(Consumer<Finding> done) {
        conversation = new Conversation(done, this::end);
    }

    static Http2Call of(Consumer<Finding> done) {
        return new Http2Call(done);
    }

    Http2Call begin(ProbeContext context, InetSocketAddress address, Exchange exchange) {
        Http2FrameCodec codec = Http2FrameCodecBuilder.forClient()
                .initialSettings(
                        Http2Settings.defaultSettings().pushEnabled(false).maxHeaderListSize(HttpProbe.HEAD_MAX_BYTES))
                .decoupleCloseAndGoAway(true)
                .gracefulShutdownTimeoutMillis(0)
                .build();
        conversation.begin(context, address, pipeline -> pipeline.addLast(codec, new Frames(exchange)));
        return this;
    }

    boolean isOver() {
        return conversation.isOver();
    }

    void tell(Finding finding) {
        conversation.tell(finding);
    }

    void fail(String detail) {
        conversation.fail(detail);
    }

    @Override
    public String cancel() {
        return conversation.cancel();
    }

    private void end(Channel channel) {
        if (stream != null && !answered) {
            channel.write(new DefaultHttp2ResetFrame(Http2Error.CANCEL).stream(stream));
        }
        channel.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
        PoliteClose.finSecond(channel);
    }

    /** What is asked, and what the parts of the answer mean. */
    interface Exchange {
        Http2Headers headers();

        /** The whole body of the request; empty: none. Ownership passes. */
        ByteBuf body();

        /** The final head, never an interim one; or, if it was there before, the trailers. */
        void onHeaders(Http2Headers headers, boolean end);

        /** Some of the body. Released by the caller. */
        void onData(ByteBuf data, boolean end);

        /** All that the socket had has been passed on. */
        void onReadComplete();
    }

    private final class Frames extends Http2ChannelDuplexHandler {
        private final Exchange exchange;
        private boolean headCame;

        Frames(Exchange exchange) {
            this.exchange = exchange;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            conversation.await("answer");
            Http2FrameStream asked = newStream();
            stream = asked;
            ByteBuf body = exchange.body();
            boolean bare = !body.isReadable();
            ctx.write(new DefaultHttp2HeadersFrame(exchange.headers(), bare).stream(asked));
            if (bare) {
                body.release();
            } else {
                ctx.write(new DefaultHttp2DataFrame(body, true).stream(asked));
            }
            ctx.flush();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object frame) {
            try {
                if (!conversation.isOver()) {
                    onFrame(ctx, frame);
                }
            } finally {
                ReferenceCountUtil.release(frame);
            }
        }

        private void onFrame(ChannelHandlerContext ctx, Object frame) {
            if (frame instanceof Http2HeadersFrame headers) {
                onHeaders(headers);
            } else if (frame instanceof Http2DataFrame data) {
                answered = data.isEndStream();
                ctx.write(new DefaultHttp2WindowUpdateFrame(data.initialFlowControlledBytes()).stream(stream));
                exchange.onData(data.content(), data.isEndStream());
            } else if (frame instanceof Http2ResetFrame reset) {
                answered = true;
                fail("stream reset by the server (" + nameOf(reset.errorCode()) + "), and no complete answer");
            } else if (frame instanceof Http2GoAwayFrame goAway) {
                onGoAway(goAway);
            }
        }

        private void onHeaders(Http2HeadersFrame frame) {
            answered = frame.isEndStream();
            if (headCame) {
                exchange.onHeaders(frame.headers(), frame.isEndStream());
                return;
            }
            int status = statusOf(frame.headers());
            if (status < 100) {
                fail("the answer has no status");
            } else if (HttpStatusClass.valueOf(status) != HttpStatusClass.INFORMATIONAL) {
                headCame = true;
                conversation.await("end of the body");
                exchange.onHeaders(frame.headers(), frame.isEndStream());
            } else if (frame.isEndStream()) {
                fail("HTTP " + status + ", and no other answer");
            }
        }

        private void onGoAway(Http2GoAwayFrame goAway) {
            // A stream that was not begun has no id yet, or one beyond the last.
            if (goAway.errorCode() != Http2Error.NO_ERROR.code() || goAway.lastStreamId() < stream.id()) {
                fail("connection ended by the server (GOAWAY " + nameOf(goAway.errorCode())
                        + "), and no complete answer");
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (headCame && !conversation.isOver()) {
                exchange.onReadComplete();
            }
            ctx.flush();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            conversation.onClosed();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable fault) {
            if (fault instanceof Http2FrameStreamException broken) {
                answered = true;
                fail("the answer is malformed: " + Printable.line(String.valueOf(broken.getMessage())));
            } else if (fault instanceof Http2Exception broken) {
                fail(wordsOf(String.valueOf(broken.getMessage())));
            } else {
                conversation.onFault(fault);
            }
        }
    }

    private static String wordsOf(String message) {
        return message.contains(HTTP1_IN_HEX)
                ? "answered in HTTP/1, not in HTTP/2"
                : "the answer is not HTTP/2: " + Printable.line(message);
    }

    /** The code of a head; 0 if there is none. */
    static int statusOf(Http2Headers headers) {
        CharSequence text = headers.status();
        if (text == null || text.length() != 3 || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return 0;
        }
        return Integer.parseInt(text, 0, 3, 10);
    }

    private static String nameOf(long errorCode) {
        Http2Error error = Http2Error.valueOf(errorCode);
        return error == null ? "error " + errorCode : error.name();
    }
}
