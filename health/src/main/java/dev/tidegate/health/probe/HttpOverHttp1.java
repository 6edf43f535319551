package dev.tidegate.health.probe;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;

/** One exchange by HTTP/1.1. Confined to the loop. */
final class HttpOverHttp1 extends SimpleChannelInboundHandler<HttpObject> {
    private static final int CHUNK_MAX_BYTES = 8 * 1024;

    private final HttpProbe.Request request;
    private final String authority;
    private final HttpJudge judge;
    private final Conversation conversation;
    private boolean inBody;
    private boolean complete;

    HttpOverHttp1(HttpProbe.Request request, String authority, HttpProbe.Expected expected, Conversation conversation) {
        super(HttpObject.class);
        this.request = request;
        this.authority = authority;
        this.judge = new HttpJudge(expected);
        this.conversation = conversation;
    }

    void addTo(ChannelPipeline pipeline) {
        pipeline.addLast(
                new HttpClientCodec(HttpProbe.LINE_MAX_BYTES, HttpProbe.HEAD_MAX_BYTES, CHUNK_MAX_BYTES), this);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        conversation.await("answer");
        ctx.writeAndFlush(message());
    }

    private FullHttpRequest message() {
        FullHttpRequest message = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1, HttpMethod.valueOf(request.method()), request.path(), Unpooled.EMPTY_BUFFER);
        message.headers().set(HttpHeaderNames.HOST, authority);
        if (!request.hasHeader("user-agent")) {
            message.headers().set(HttpHeaderNames.USER_AGENT, HttpProbe.USER_AGENT);
        }
        request.headers().forEach(header -> message.headers().add(header.name(), header.value()));
        if (request.saysLength()) {
            message.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
        }
        message.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return message;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject part) {
        if (conversation.isOver()) {
            return;
        }
        Throwable fault = part.decoderResult().cause();
        if (fault instanceof PrematureChannelClosureException) {
            conversation.onClosed();
            return;
        }
        if (fault != null) {
            String why = String.valueOf(fault.getMessage());
            conversation.fail((inBody ? "the body is malformed: " : "the answer is not HTTP: ") + Printable.line(why));
            return;
        }
        if (part instanceof HttpResponse head) {
            onHead(head.status());
        }
        if (part instanceof HttpContent piece && inBody && !conversation.isOver()) {
            judge.onBody(piece.content());
            complete = part instanceof LastHttpContent;
            if (judge.isFull() || complete) {
                look();
            }
        }
    }

    private void onHead(HttpResponseStatus status) {
        if (status.equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
            conversation.fail("HTTP 101, and nobody asked for another protocol");
        } else if (status.codeClass() != HttpStatusClass.INFORMATIONAL) {
            inBody = true;
            conversation.await("end of the body");
            judge.onStatus(status.code()).ifPresent(conversation::tell);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (inBody && !conversation.isOver()) {
            look();
        }
    }

    private void look() {
        judge.look(complete).ifPresent(conversation::tell);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        conversation.onClosed();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable fault) {
        conversation.onFault(fault);
    }
}
