package dev.tidegate.admin;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One admin connection: takes a request, has it answered, and again. While an answer is on its way nothing is read, and
 * what was read already waits; after a refusal because of too many requests, for a moment more. What it refuses for its
 * form it answers at once and then closes, reading on for a moment so that the answer is not lost to a reset.
 *
 * <p>Confined to the admin loop.
 */
final class Exchange extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);
    private static final byte[] NOTHING = new byte[0];

    private final AdminLimits limits;
    private final Listener listener;
    private final Peer peer;
    private final ExchangeClock clock;
    private final Queue<Object> waiting = new ArrayDeque<>(); // of one read at most
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(0);
    private HttpRequest request;
    private Dispatcher.Admission admission;
    private Answer refusal;
    private boolean tooOften; // why it is refused
    private long bodyBytes;
    private boolean taking;
    private boolean answering;
    private boolean closing;

    /**
     * The client.
     *
     * @param from where it is, for the operator
     * @param rateKey what its requests are counted by
     * @param reserved whether it came when all ordinary places were taken
     */
    record Peer(String from, Object rateKey, boolean reserved) {}

    Exchange(AdminLimits limits, Listener listener, Peer peer) {
        this.limits = limits;
        this.listener = listener;
        this.peer = peer;
        this.clock = new ExchangeClock(peer.reserved() ? limits.forReserved() : limits);
    }

    /** What bounds the time of it; to stand first in the pipeline. */
    ExchangeClock clock() {
        return clock;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        waiting.add(message);
        takeWaiting(ctx);
    }

    private void takeWaiting(ChannelHandlerContext ctx) {
        if (taking) {
            return; // an answer was out before its question's handling returned; the loop below goes on
        }
        taking = true;
        while (!answering && !waiting.isEmpty()) {
            Object message = waiting.remove();
            try {
                take(ctx, message);
            } finally {
                ReferenceCountUtil.release(message);
            }
        }
        taking = false;
    }

    private void take(ChannelHandlerContext ctx, Object message) {
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
        admission = null;
        tooOften = false;
        bodyBytes = 0;
        body.reset();
        Answer unfit = listener.check().refusal(head);
        if (unfit != null) {
            refuse(ctx, unfit);
            return;
        }
        refusal = overLimit(ctx, head);
        if (refusal == null) {
            admission = listener.dispatcher().admit(head, listener.gate(), peer.from());
            refusal = admission.refusal();
        }
        if (HttpUtil.is100ContinueExpected(head)) {
            if (refusal != null) {
                refuse(ctx, refusal);
            } else {
                ctx.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
            }
        }
    }

    private Answer overLimit(ChannelHandlerContext ctx, HttpRequest head) {
        if (head.uri().equals("/livez") || head.uri().startsWith("/livez?")) {
            return null;
        }
        if (peer.reserved()) {
            return Answer.problem(
                            HttpResponseStatus.SERVICE_UNAVAILABLE,
                            "all " + limits.connections() + " connections are taken; close some, or ask again")
                    .with("retry-after", "1");
        }
        long waitNanos =
                listener.rates().tryTake(peer.rateKey(), ctx.executor().ticker().nanoTime());
        if (waitNanos == 0) {
            return null;
        }
        tooOften = true;
        long seconds = 1 + TimeUnit.NANOSECONDS.toSeconds(waitNanos);
        return Answer.problem(
                        HttpResponseStatus.TOO_MANY_REQUESTS,
                        "a client may ask " + limits.requestsPerSecond() + " times a second; ask less often")
                .with("retry-after", Long.toString(seconds));
    }

    private void onContent(ChannelHandlerContext ctx, HttpContent content) {
        bodyBytes += content.content().readableBytes();
        if (content.decoderResult().isFailure()) {
            refuse(ctx, RequestCheck.unreadable(content.decoderResult().cause()));
        } else if (bodyBytes > limits.bodyBytes()) {
            refuse(ctx, listener.check().bodyTooLarge());
        } else {
            if (refusal == null) {
                keep(content);
            }
            if (content instanceof LastHttpContent) {
                answer(ctx);
            }
        }
    }

    private void keep(HttpContent content) {
        byte[] bytes = new byte[content.content().readableBytes()];
        content.content().getBytes(content.content().readerIndex(), bytes);
        body.writeBytes(bytes);
    }

    private void answer(ChannelHandlerContext ctx) {
        boolean keepAlive = HttpUtil.isKeepAlive(request) && !peer.reserved();
        beginAnswer(ctx);
        if (refusal != null) {
            audit(Values.NONE, refusal);
            send(ctx, refusal, keepAlive);
            return;
        }
        try {
            Call call = listener.dispatcher().read(admission, request, body.toByteArray());
            CompletionStage<Answer> answered = listener.dispatcher().carryOut(call);
            answered.thenAccept(answer -> onAnswer(ctx, call, answer, keepAlive));
        } catch (Refusal e) {
            audit(Values.NONE, e.answer());
            send(ctx, e.answer(), keepAlive);
        }
    }

    /** Any thread. What was done is told even when nobody waits for the answer any more. */
    private void onAnswer(ChannelHandlerContext ctx, Call call, Answer answer, boolean keepAlive) {
        audit(call.body(), answer);
        if (ctx.executor().inEventLoop()) {
            send(ctx, answer, keepAlive);
        } else if (!ctx.executor().isShuttingDown()) {
            ctx.executor().execute(() -> send(ctx, answer, keepAlive));
        }
    }

    private void refuse(ChannelHandlerContext ctx, Answer answer) {
        beginAnswer(ctx);
        audit(Values.NONE, answer);
        send(ctx, answer, false);
    }

    private void beginAnswer(ChannelHandlerContext ctx) {
        answering = true;
        // A client may end its side as soon as it has asked. Its FIN would close the channel under the answer, so it is
        // read only after that.
        ctx.channel().config().setAutoRead(false);
        clock.working();
    }

    private void audit(Values asked, Answer answer) {
        if (isRead(request.method())) {
            return;
        }
        String who = admission == null ? "? " + peer.from() : admission.caller().toString();
        listener.audit().tell(who, request.method() + " " + request.uri(), asked, answer);
    }

    private static boolean isRead(HttpMethod method) {
        return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    }

    private void send(ChannelHandlerContext ctx, Answer answer, boolean keepAlive) {
        boolean head = request.method().equals(HttpMethod.HEAD);
        if (answer.stream().isPresent() && !head) {
            stream(ctx, answer, keepAlive);
            return;
        }
        HttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, answer.status(), Unpooled.wrappedBuffer(head ? NOTHING : answer.body()));
        describe(response, answer);
        if (answer.stream().isEmpty() && !answer.status().equals(HttpResponseStatus.NO_CONTENT)) {
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
        }
        if (!keepAlive) {
            closing = true;
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
        clock.answering();
        ChannelFuture written = ctx.writeAndFlush(response);
        written.addListener(done -> onWritten(ctx, done.isSuccess()));
    }

    private void stream(ChannelHandlerContext ctx, Answer answer, boolean keepAlive) {
        if (listener.events().isFull()) {
            send(ctx, tooManyFollowers(), keepAlive);
            return;
        }
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, answer.status());
        describe(response, answer);
        if (request.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
            HttpUtil.setTransferEncodingChunked(response, true);
        }
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        closing = true; // what else it asks on this connection is not heard
        answering = false;
        clock.streaming();
        ctx.writeAndFlush(response);
        ctx.channel().config().setAutoRead(true); // its end must be seen
        listener.events()
                .join(ctx.channel(), admission.caller(), answer.stream().get());
    }

    private Answer tooManyFollowers() {
        return Answer.problem(
                        HttpResponseStatus.SERVICE_UNAVAILABLE,
                        limits.streams() + " follow events already, which is the most; end one, or come again")
                .with("retry-after", "10");
    }

    private static void describe(HttpResponse response, Answer answer) {
        response.headers().set(HttpHeaderNames.CACHE_CONTROL, "no-store").set("x-content-type-options", "nosniff");
        answer.headers().forEach(response.headers()::set);
    }

    private void onWritten(ChannelHandlerContext ctx, boolean success) {
        if (!success) {
            answering = false;
            closing = true; // what it asked behind that is not answered either
            ctx.close();
            return;
        }
        if (closing) {
            clock.closing();
            end(ctx);
        } else {
            clock.idle();
            if (tooOften) {
                ctx.executor().schedule(() -> listen(ctx), listener.rates().restMillis(), TimeUnit.MILLISECONDS);
                return;
            }
        }
        listen(ctx);
    }

    private void listen(ChannelHandlerContext ctx) {
        answering = false;
        ctx.channel().config().setAutoRead(true);
        takeWaiting(ctx);
    }

    private static void end(ChannelHandlerContext ctx) {
        DuplexChannel channel = (DuplexChannel) ctx.channel();
        SslHandler tls = ctx.pipeline().get(SslHandler.class);
        if (tls == null) {
            channel.shutdownOutput();
        } else {
            tls.closeOutbound().addListener(told -> channel.shutdownOutput());
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        waiting.forEach(ReferenceCountUtil::release);
        waiting.clear();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        boolean theirs = cause instanceof IOException
                || (cause instanceof DecoderException && cause.getCause() instanceof SSLException);
        if (theirs) {
            log.debug("admin client went away: {}", cause.getMessage());
        } else {
            log.error("admin connection failed", cause);
        }
        ctx.close();
    }
}
