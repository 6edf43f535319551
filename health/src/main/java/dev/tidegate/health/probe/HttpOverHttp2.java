package dev.tidegate.health.probe;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Locale;

/** One exchange by HTTP/2. Confined to the loop. */
final class HttpOverHttp2 implements Http2Call.Exchange {
    private final HttpProbe.Request request;
    private final String authority;
    private final HttpJudge judge;
    private final Http2Call call;
    private boolean headCame;
    private boolean complete;

    HttpOverHttp2(HttpProbe.Request request, String authority, HttpProbe.Expected expected, Http2Call call) {
        this.request = request;
        this.authority = authority;
        this.judge = new HttpJudge(expected);
        this.call = call;
    }

    @Override
    public Http2Headers headers() {
        Http2Headers headers = new DefaultHttp2Headers()
                .method(request.method())
                .scheme("http")
                .authority(authority)
                .path(request.path());
        if (!request.hasHeader("user-agent")) {
            headers.set(HttpHeaderNames.USER_AGENT, HttpProbe.USER_AGENT);
        }
        request.headers().forEach(header -> headers.add(header.name().toLowerCase(Locale.ROOT), header.value()));
        if (request.saysLength()) {
            headers.setInt(HttpHeaderNames.CONTENT_LENGTH, 0);
        }
        return headers;
    }

    @Override
    public ByteBuf body() {
        return Unpooled.EMPTY_BUFFER;
    }

    @Override
    public void onHeaders(Http2Headers headers, boolean end) {
        complete = end;
        if (!headCame) {
            headCame = true;
            judge.onStatus(Http2Call.statusOf(headers)).ifPresent(call::tell);
        }
        if (end && !call.isOver()) {
            onReadComplete();
        }
    }

    @Override
    public void onData(ByteBuf data, boolean end) {
        complete = end;
        judge.onBody(data);
        if (end || judge.isFull()) {
            onReadComplete();
        }
    }

    @Override
    public void onReadComplete() {
        judge.look(complete).ifPresent(call::tell);
    }
}
