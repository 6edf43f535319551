package dev.tidegate.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/**
 * An admin API that answers what it was told to, and remembers what it was asked.
 *
 * <pre>{@code
 * try (CannedApi api = CannedApi.onSocket(directory)) {
 *     api.on("GET /v1/status", 200, view);
 *     ...
 *     assertEquals(List.of("GET /v1/status"), api.asked());
 * }
 * }</pre>
 */
final class CannedApi implements AutoCloseable {
    private static final ObjectMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .addModule(new SimpleModule().addSerializer(Instant.class, new ToStringSerializer()))
            .build();

    private final MultiThreadIoEventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Map<String, Deque<Answer>> answers = new HashMap<>(); // guarded by itself
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final ChannelGroup children = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Channel server;

    /** A request as it came. */
    record Asked(String line, Map<String, String> headers, String body) {
        @Override
        public String toString() {
            return line + (body.isEmpty() ? "" : " " + body);
        }
    }

    private record Answer(int status, String contentType, String body, String tag) {}

    private CannedApi(Class<? extends ServerChannel> kind, SocketAddress address, SslContext tls) {
        server = new ServerBootstrap()
                .group(loop)
                .channel(kind)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        children.add(channel);
                        if (tls != null) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                        }
                        channel.pipeline()
                                .addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 20), new Exchange());
                    }
                })
                .bind(address)
                .syncUninterruptibly()
                .channel();
    }

    /** One on a UNIX socket {@code admin.sock} in that directory. */
    static CannedApi onSocket(Path directory) {
        return new CannedApi(
                NioServerDomainSocketChannel.class, UnixDomainSocketAddress.of(directory.resolve("admin.sock")), null);
    }

    /** One on a port of loopback; with TLS if a context is given. */
    static CannedApi onLoopback(SslContext tls) {
        return new CannedApi(
                NioServerSocketChannel.class, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), tls);
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /**
     * Has a request answered with a view as JSON. Several answers to one request come one after the other, the last again
     * and again.
     */
    CannedApi on(String request, int status, Object view) {
        return text(request, status, status < 400 ? "application/json" : "application/problem+json", json(view));
    }

    /** Has a request answered with a text. */
    CannedApi text(String request, int status, String contentType, String body) {
        synchronized (answers) {
            answers.computeIfAbsent(request, key -> new ArrayDeque<>()).add(new Answer(status, contentType, body, ""));
        }
        return this;
    }

    /** Has a request answered with a generation alone. */
    CannedApi tagged(String request, int status, long generation) {
        synchronized (answers) {
            answers.computeIfAbsent(request, key -> new ArrayDeque<>())
                    .add(new Answer(status, "", "", "\"" + generation + "\""));
        }
        return this;
    }

    /** From now on, answers given before to that request are forgotten. */
    CannedApi forget(String request) {
        synchronized (answers) {
            answers.remove(request);
        }
        return this;
    }

    static String json(Object view) {
        try {
            return JSON.writeValueAsString(view);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What was asked: method, target and body. */
    List<String> asked() {
        return asked.stream().map(Asked::toString).toList();
    }

    List<Asked> requests() {
        return List.copyOf(asked);
    }

    private Answer answer(String line) {
        synchronized (answers) {
            Deque<Answer> left = answers.get(line);
            if (left == null) {
                return new Answer(
                        404,
                        "application/problem+json",
                        "{\"title\":\"Not Found\",\"detail\":\"no answer is canned for " + line + "\"}",
                        "");
            }
            return left.size() > 1 ? left.poll() : left.peek();
        }
    }

    private final class Exchange extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            String line = request.method() + " " + request.uri();
            Map<String, String> headers = new HashMap<>();
            request.headers()
                    .forEach(header -> headers.put(header.getKey().toLowerCase(Locale.ROOT), header.getValue()));
            asked.add(new Asked(line, headers, request.content().toString(StandardCharsets.UTF_8)));
            Answer answer = answer(line);
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.valueOf(answer.status()),
                    Unpooled.copiedBuffer(answer.body(), StandardCharsets.UTF_8));
            if (!answer.tag().isEmpty()) {
                response.headers().set("etag", answer.tag());
            }
            response.headers().set("content-type", answer.contentType());
            response.headers().set("content-length", response.content().readableBytes());
            context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) throws Exception {
            if (!(cause.getCause() instanceof SSLException)) {
                super.exceptionCaught(context, cause);
            }
            context.close(); // a client that does not trust the certificate says so, and goes
        }
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
        // The loop's end alone leaves the descriptor of one whose TLS handshake is under way.
        children.close().awaitUninterruptibly();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
