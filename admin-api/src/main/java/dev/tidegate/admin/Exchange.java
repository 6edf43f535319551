package dev.tidegate.admin;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One admin connection: takes a request, has it answered, and again. What it refuses it answers at once and then closes,
 * reading on for a moment so that the answer is not lost to a reset.
 *
 * <p>Confined to the admin loop.
 */
final class Exchange extends SimpleChannelInboundHandler<HttpObject> {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private final AdminLimits limits;
    private final RequestCheck check;
    private final Routes routes;
    private final ExchangeClock clock;
    private HttpRequest request;
    private long bodyBytes;
    private int answersUnderWay;
    private boolean closing;

    Exchange(AdminLimits limits, HostCheck hosts, Routes routes) {
        this.limits = limits;
        this.check = new RequestCheck(hosts, limits.bodyBytes());
        this.routes = routes;
        this.clock = new ExchangeClock(limits);
    }

    /** What bounds the time of it; to stand first in the pipeline. */
    ExchangeClock clock() {
        return clock;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
        if (closing) {
            return;
        }
        if (message instanceof HttpRequest head) {
            onHead(ctx, head);
        }
        if (message instanceof HttpContent content && !closing) {
            onContent(ctx, content);
        }
    }

    private void onHead(ChannelHandlerContext ctx, HttpRequest head) {
        request = head;
        bodyBytes = 0;
        if (!ctx.channel().isWritable()) {
            // It asks for more without taking what it was given. It may come back and ask again.
            closing = true;
            return;
        }
        Answer refusal = check.refusal(head);
        if (refusal != null) {
            refuse(ctx, refusal);
        } else if (HttpUtil.is100ContinueExpected(head)) {
            ctx.writeAndFlush(response(HttpResponseStatus.CONTINUE, new byte[0]));
        }
    }

    private void onContent(ChannelHandlerContext ctx, HttpContent content) {
        bodyBytes += content.content().readableBytes();
        if (content.decoderResult().isFailure()) {
            refuse(ctx, RequestCheck.unreadable(content.decoderResult().cause()));
        } else if (bodyBytes > limits.bodyBytes()) {
            refuse(ctx, check.bodyTooLarge());
        } else if (content instanceof LastHttpContent) {
            answer(ctx);
        }
    }

    private void answer(ChannelHandlerContext ctx) {
        send(ctx, routes.answer(request), HttpUtil.isKeepAlive(request));
    }

    private void refuse(ChannelHandlerContext ctx, Answer refusal) {
        send(ctx, refusal, false);
    }

    private void send(ChannelHandlerContext ctx, Answer answer, boolean keepAlive) {
        boolean head = request.method().equals(HttpMethod.HEAD);
        FullHttpResponse response = response(answer.status(), head ? new byte[0] : answer.body());
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, answer.contentType())
                .set(HttpHeaderNames.CONTENT_LENGTH, answer.body().length)
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .set("x-content-type-options", "nosniff");
        if (answer.allow() != null) {
            response.headers().set(HttpHeaderNames.ALLOW, answer.allow());
        }
        if (!keepAlive) {
            closing = true;
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
        answersUnderWay++;
        // A client may end its side as soon as it has asked. Its FIN would close the channel under the answer, so it is
        // read only after that.
        ctx.channel().config().setAutoRead(false);
        clock.answering();
        ChannelFuture written = ctx.writeAndFlush(response);
        written.addListener(done -> onWritten(ctx, done.isSuccess()));
    }

    private void onWritten(ChannelHandlerContext ctx, boolean success) {
        answersUnderWay--;
        if (!success) {
            ctx.close();
        } else if (answersUnderWay == 0) {
            next(ctx);
        }
    }

    private void next(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(true);
        if (closing) {
            clock.closing();
            ((DuplexChannel) ctx.channel()).shutdownOutput();
        } else {
            clock.idle();
        }
    }

    private static FullHttpResponse response(HttpResponseStatus status, byte[] body) {
        return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            log.debug("admin client went away: {}", cause.getMessage());
        } else {
            log.error("admin connection failed", cause);
        }
        ctx.close();
    }
}
