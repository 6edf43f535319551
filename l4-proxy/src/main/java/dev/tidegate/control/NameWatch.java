package dev.tidegate.control;

import dev.tidegate.config.EndpointAddress;
import dev.tidegate.model.EndpointCell;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the addresses of endpoints that are configured by name. Each name is asked for again when its answer's time to
 * live is over (at least 1 s, at most 5 min); the last good answer stays while lookups fail, which are tried again soon.
 *
 * <p>Lookups run on a thread of their own, {@code tidegate-names}, and never on a worker.
 */
final class NameWatch implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(NameWatch.class);

    private static final long LEAST_TTL_SECONDS = 1;
    private static final long GREATEST_TTL_SECONDS = 300;
    private static final long RETRY_SECONDS = 1;
    private static final long QUERY_MILLIS = 2_000;
    private static final long STOP_SECONDS = 2;

    private final EventLoopGroup group;
    private final EventLoop loop;
    private final DnsNameResolver resolver;
    private final TimesToLive timesToLive = new TimesToLive();
    private final Map<EndpointCell, Watch> watches = new HashMap<>(); // on the loop

    /**
     * @param servers whom to ask
     */
    NameWatch(DnsServerAddressStreamProvider servers) {
        group = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("tidegate-names", true), NioIoHandler.newFactory());
        loop = group.next();
        try {
            resolver = resolver(servers);
        } catch (RuntimeException failed) {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw failed;
        }
    }

    private DnsNameResolver resolver(DnsServerAddressStreamProvider servers) {
        return new DnsNameResolverBuilder(loop)
                .datagramChannelType(NioDatagramChannel.class)
                .nameServerProvider(servers)
                .queryTimeoutMillis(QUERY_MILLIS)
                .resolveCache(timesToLive)
                .cnameCache(NoopDnsCnameCache.INSTANCE)
                .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE)
                .build();
    }

    /** Keeps the addresses of those cells from now on, and of no others. Any thread. */
    void follow(Map<EndpointCell, EndpointAddress> cells) {
        Map<EndpointCell, EndpointAddress> wanted = Map.copyOf(cells);
        loop.execute(() -> {
            watches.entrySet().removeIf(entry -> {
                boolean over = !wanted.containsKey(entry.getKey());
                if (over) {
                    entry.getValue().stop();
                }
                return over;
            });
            wanted.forEach((cell, address) -> watches.computeIfAbsent(cell, fresh -> {
                Watch watch = new Watch(fresh, address.host(), address.port());
                watch.run();
                return watch;
            }));
        });
    }

    @Override
    public void close() {
        resolver.close();
        if (!group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS)) {
            log.error("the watch of names did not end waited={}s", STOP_SECONDS);
        }
    }

    private final class Watch implements Runnable {
        private final EndpointCell cell;
        private final String host;
        private final int port;
        private boolean failing;
        private boolean stopped;

        Watch(EndpointCell cell, String host, int port) {
            this.cell = cell;
            this.host = host;
            this.port = port;
        }

        void stop() {
            stopped = true;
        }

        @Override
        public void run() {
            if (stopped) {
                return;
            }
            timesToLive.forget(host);
            resolver.resolveAll(host).addListener((Future<List<InetAddress>> answer) -> {
                if (stopped) {
                    return;
                }
                long again = answer.isSuccess() ? onAnswer(answer.getNow()) : onFailure(answer.cause());
                if (!loop.isShuttingDown()) {
                    loop.schedule(this, again, TimeUnit.SECONDS);
                }
            });
        }

        private long onAnswer(List<InetAddress> answer) {
            List<InetSocketAddress> now = answer.stream()
                    .distinct()
                    .map(address -> new InetSocketAddress(address, port))
                    .toList();
            if (!List.copyOf(cell.addresses()).containsAll(now)
                    || cell.addresses().size() != now.size()) {
                log.info(
                        "name resolved backend={} endpoint={} addresses={}",
                        cell.backend(),
                        cell.address(),
                        now.stream().map(a -> a.getAddress().getHostAddress()).toList());
                cell.resolve(now);
            }
            failing = false;
            return timesToLive.of(host);
        }

        private long onFailure(Throwable cause) {
            if (!failing) {
                failing = true;
                log.warn(
                        "name not resolved backend={} endpoint={} kept={} cause={}",
                        cell.backend(),
                        cell.address(),
                        cell.addresses().size(),
                        cause.getMessage());
            }
            return RETRY_SECONDS;
        }
    }

    /** Keeps no answer, only how long each may be believed. Confined to the resolver's loop. */
    private static final class TimesToLive implements DnsCache {
        private final Map<String, Long> seconds = new HashMap<>();

        long of(String host) {
            long seen = seconds.getOrDefault(key(host), GREATEST_TTL_SECONDS);
            return Math.max(LEAST_TTL_SECONDS, Math.min(GREATEST_TTL_SECONDS, seen));
        }

        void forget(String host) {
            seconds.remove(key(host));
        }

        private static String key(String host) {
            String lower = host.toLowerCase(Locale.ROOT);
            return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
        }

        @Override
        public DnsCacheEntry cache(
                String host, DnsRecord[] additionals, InetAddress address, long ttlSeconds, EventLoop on) {
            seconds.merge(key(host), ttlSeconds, Math::min);
            return new Entry(address, null);
        }

        @Override
        public DnsCacheEntry cache(String host, DnsRecord[] additionals, Throwable cause, EventLoop on) {
            return new Entry(null, cause);
        }

        @Override
        public List<? extends DnsCacheEntry> get(String host, DnsRecord[] additionals) {
            return List.of();
        }

        @Override
        public void clear() {
            seconds.clear();
        }

        @Override
        public boolean clear(String host) {
            return seconds.remove(key(host)) != null;
        }

        private record Entry(InetAddress address, Throwable cause) implements DnsCacheEntry {}
    }
}
