package dev.tidegate.control;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A name server on a loopback UDP port of the kernel's choice, that says of each name what it was told last, and knows no
 * other name. Safe for use by any thread.
 */
final class FakeNameServer implements AutoCloseable {
    private final EventLoopGroup group =
            new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("names", true), NioIoHandler.newFactory());
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> queries = new ConcurrentHashMap<>();
    private final Channel channel;

    private FakeNameServer() {
        channel = new Bootstrap()
                .group(group)
                .channel(NioDatagramChannel.class)
                .handler(new ChannelInitializer<DatagramChannel>() {
                    @Override
                    protected void initChannel(DatagramChannel fresh) {
                        fresh.pipeline()
                                .addLast(
                                        new DatagramDnsQueryDecoder(), new DatagramDnsResponseEncoder(), new Replies());
                    }
                })
                .bind("127.0.0.1", 0)
                .syncUninterruptibly()
                .channel();
    }

    static FakeNameServer start() {
        return new FakeNameServer();
    }

    /** What a resolver needs to ask this server, and no other. */
    DnsServerAddressStreamProvider provider() {
        return new SingletonDnsServerAddressStreamProvider((InetSocketAddress) channel.localAddress());
    }

    /** From now on the name has those addresses, IPv4 or IPv6. */
    void answer(String name, int ttlSeconds, String... addresses) {
        answers.put(name, new Answer(DnsResponseCode.NOERROR, ttlSeconds, List.of(addresses)));
    }

    /** Queries so far for the name's IPv4 addresses. */
    int queries(String name) {
        return count(name + " A");
    }

    private int count(String key) {
        AtomicInteger count = queries.get(key);
        return count == null ? 0 : count.get();
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private record Answer(DnsResponseCode code, int ttlSeconds, List<String> addresses) {
        static final Answer UNKNOWN = new Answer(DnsResponseCode.NXDOMAIN, 0, List.of());
    }

    private final class Replies extends SimpleChannelInboundHandler<DatagramDnsQuery> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, DatagramDnsQuery query) {
            DnsQuestion question = query.recordAt(DnsSection.QUESTION);
            String name = question.name().substring(0, question.name().length() - 1);
            queries.computeIfAbsent(name + " " + question.type().name(), any -> new AtomicInteger())
                    .incrementAndGet();
            Answer answer = answers.getOrDefault(name, Answer.UNKNOWN);
            InetSocketAddress asker = query.sender();
            InetSocketAddress me = query.recipient();
            DatagramDnsResponse reply = new DatagramDnsResponse(me, asker, query.id());
            reply.setCode(answer.code()).addRecord(DnsSection.QUESTION, question);
            int length = question.type().equals(DnsRecordType.A) ? 4 : 16;
            for (String address : answer.addresses()) {
                byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address);
                if (bytes.length == length) {
                    reply.addRecord(
                            DnsSection.ANSWER,
                            new DefaultDnsRawRecord(
                                    question.name(),
                                    question.type(),
                                    answer.ttlSeconds(),
                                    Unpooled.wrappedBuffer(bytes)));
                }
            }
            ctx.writeAndFlush(reply);
        }
    }
}
