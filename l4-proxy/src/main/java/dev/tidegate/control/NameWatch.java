package dev.tidegate.control;

import dev.tidegate.config.EndpointAddress;
import dev.tidegate.model.EndpointCell;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.resolver.dns.NoopDnsCnameCache;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the addresses of endpoints that are configured by name. Each name is asked for again when its answer's time to
 * live is over (at least 1 s, at most 5 min); the last good answer stays while lookups fail, which are tried again soon.
 *
 * <p>Of endpoints that were added at run time, addresses that are none for them ({@link UnfitAddress}) are left out; an
 * answer with no other is like a lookup that failed.
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
    private final BiConsumer<EndpointCell, List<String>> refused;
    private final Runnable onNewAddresses;
    private final Map<EndpointCell, Watch> watches = new HashMap<>(); // on the loop

    /**
     * @param servers whom to ask
     * @param refused told of addresses that were left out; on the watch's own thread, must not wait
     * @param onNewAddresses is told when an endpoint has other addresses than before; in the same way
     */
    NameWatch(
            DnsServerAddressStreamProvider servers,
            BiConsumer<EndpointCell, List<String>> refused,
            Runnable onNewAddresses) {
        this(servers, refused, onNewAddresses, setting -> setting);
    }

    /**
     * @param servers whom to ask
     * @param refused told of addresses that were left out
     * @param onNewAddresses is told when an endpoint has other addresses than before
     * @param platform what to set in place of what this machine says, such as its search domains
     */
    NameWatch(
            DnsServerAddressStreamProvider servers,
            BiConsumer<EndpointCell, List<String>> refused,
            Runnable onNewAddresses,
            UnaryOperator<DnsNameResolverBuilder> platform) {
        this.refused = refused;
        this.onNewAddresses = onNewAddresses;
        group = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("tidegate-names", true), NioIoHandler.newFactory());
        loop = group.next();
        try {
            resolver = resolver(servers, platform);
        } catch (RuntimeException failed) {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            throw failed;
        }
    }

    private DnsNameResolver resolver(
            DnsServerAddressStreamProvider servers, UnaryOperator<DnsNameResolverBuilder> platform) {
        DnsNameResolverBuilder builder = new DnsNameResolverBuilder(loop)
                .datagramChannelType(NioDatagramChannel.class)
                // An answer too long for a datagram is asked for again over TCP (RFC 7766, section 5): a fleet's name.
                .socketChannelType(NioSocketChannel.class)
                .nameServerProvider(servers)
                .queryTimeoutMillis(QUERY_MILLIS)
                // Both families' answers, or which addresses a name has would hang on which answer came first.
                .completeOncePreferredResolved(false)
                .resolveCache(new TimesToLive())
                .cnameCache(NoopDnsCnameCache.INSTANCE)
                .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE);
        return platform.apply(builder).build();
    }

    /**
     * Keeps the addresses of those cells from now on, and of no others. Any thread.
     *
     * @param added which of them were added at run time
     */
    void follow(Map<EndpointCell, EndpointAddress> cells, Set<EndpointCell> added) {
        Map<EndpointCell, EndpointAddress> wanted = Map.copyOf(cells);
        Set<EndpointCell> guarded = Set.copyOf(added);
        loop.execute(() -> {
            watches.entrySet().removeIf(entry -> {
                Watch watch = entry.getValue();
                boolean over = !wanted.containsKey(entry.getKey()) || watch.guarded != guarded.contains(entry.getKey());
                if (over) {
                    watch.stop();
                }
                return over;
            });
            wanted.forEach((cell, address) -> watches.computeIfAbsent(cell, fresh -> {
                Watch watch = new Watch(fresh, address.host(), address.port(), guarded.contains(fresh));
                watch.run();
                return watch;
            }));
        });
    }

    /**
     * Is done when each name that is followed by now has been asked for once, whatever came of it, or is not followed any
     * more; never, when the watch is closed before. Any thread; completed on the watch's.
     */
    CompletableFuture<Void> askedOnce() {
        CompletableFuture<Void> asked = new CompletableFuture<>();
        loop.execute(() -> {
            CompletableFuture<?>[] each =
                    watches.values().stream().map(Watch::asked).toArray(CompletableFuture<?>[]::new);
            var unused = CompletableFuture.allOf(each).thenRun(() -> asked.complete(null));
        });
        return asked;
    }

    @Override
    public void close() {
        resolver.close();
        if (!group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(STOP_SECONDS, TimeUnit.SECONDS)) {
            log.error("the watch of names did not end waited={}s", STOP_SECONDS);
        }
    }

    /** Something is wrong with an endpoint: its name is asked for again soon, whatever its time to live. Any thread. */
    void hurry(EndpointCell cell) {
        if (!loop.isShuttingDown()) {
            loop.execute(() -> {
                Watch watch = watches.get(cell);
                if (watch != null) {
                    watch.hurry();
                }
            });
        }
    }

    private final class Watch implements Runnable {
        private final EndpointCell cell;
        private final String host;
        private final int port;
        private final boolean guarded; // against addresses that are none for what was added at run time
        private List<String> refusedLast = List.of();
        private long seenSeconds; // the least time to live in the answer to the lookup under way
        private boolean failing;
        private boolean faulty;
        private boolean stopped;
        private ScheduledFuture<?> next;
        private final CompletableFuture<Void> asked = new CompletableFuture<>(); // once, whatever came of it

        Watch(EndpointCell cell, String host, int port, boolean guarded) {
            this.cell = cell;
            this.host = host;
            this.port = port;
            this.guarded = guarded;
        }

        void hurry() {
            if (next != null && next.getDelay(TimeUnit.SECONDS) > LEAST_TTL_SECONDS && next.cancel(false)) {
                again(LEAST_TTL_SECONDS);
            }
        }

        CompletableFuture<Void> asked() {
            return asked;
        }

        void stop() {
            stopped = true;
            asked.complete(null);
        }

        @Override
        public void run() {
            if (stopped) {
                return;
            }
            seenSeconds = GREATEST_TTL_SECONDS;
            try {
                resolver.resolveAll(host).addListener((Future<List<InetAddress>> answer) -> onDone(answer));
            } catch (Throwable fault) { // whatever it is: a watch that ends here would keep old addresses for ever
                again(onFault(fault));
            }
        }

        private void onDone(Future<List<InetAddress>> answer) {
            if (stopped) {
                return;
            }
            long seconds;
            try {
                seconds = answer.isSuccess() ? onAnswer(answer.getNow()) : onFailure(answer.cause());
            } catch (Throwable fault) {
                seconds = onFault(fault);
            }
            again(seconds);
        }

        private void again(long seconds) {
            asked.complete(null);
            if (!loop.isShuttingDown()) {
                next = loop.schedule(this, seconds, TimeUnit.SECONDS);
            }
        }

        private long onAnswer(List<InetAddress> answer) {
            List<InetAddress> all = answer.stream().distinct().toList();
            List<InetAddress> fit = all.stream().filter(this::fits).toList();
            tellRefused(all.stream().filter(address -> !fits(address)).toList());
            List<InetSocketAddress> now = fit.isEmpty()
                    ? cell.addresses().stream()
                            .filter(kept -> fits(kept.getAddress()))
                            .toList()
                    : fit.stream()
                            .map(address -> new InetSocketAddress(address, port))
                            .toList();
            if (!List.copyOf(cell.addresses()).containsAll(now)
                    || cell.addresses().size() != now.size()) {
                log.info(
                        "name resolved backend={} endpoint={} addresses={}",
                        cell.backend(),
                        cell.address(),
                        now.stream()
                                .map(a -> NetUtil.toAddressString(a.getAddress()))
                                .toList());
                cell.resolve(now);
                onNewAddresses.run();
            }
            failing = false;
            faulty = false;
            return Math.max(LEAST_TTL_SECONDS, seenSeconds);
        }

        private boolean fits(InetAddress address) {
            return !guarded || !UnfitAddress.is(address);
        }

        private void tellRefused(List<InetAddress> unfit) {
            List<String> now =
                    unfit.stream().map(NetUtil::toAddressString).sorted().toList();
            if (now.equals(refusedLast)) {
                return;
            }
            refusedLast = now;
            if (!now.isEmpty()) {
                log.warn(
                        "addresses not taken: link-local, unspecified or multicast ones are none for an endpoint that was"
                                + " added at run time backend={} endpoint={} addresses={}",
                        cell.backend(),
                        cell.address(),
                        now);
                refused.accept(cell, now);
            }
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

        private long onFault(Throwable fault) {
            if (!faulty) {
                faulty = true;
                log.error(
                        "name not looked up, tried again backend={} endpoint={} kept={}",
                        cell.backend(),
                        cell.address(),
                        cell.addresses().size(),
                        fault);
            }
            return RETRY_SECONDS;
        }

        /**
         * With search domains the name asked for is this one and a domain. Another name that merely begins so can but
         * make this one be asked for sooner.
         */
        void onTimeToLive(String name, long seconds) {
            if ((name + ".").startsWith(host.endsWith(".") ? host : host + ".")) {
                seenSeconds = Math.min(seenSeconds, seconds);
            }
        }
    }

    /** Keeps no answer, but tells the watches how long it may be believed. Confined to the resolver's loop. */
    private final class TimesToLive implements DnsCache {
        @Override
        public DnsCacheEntry cache(
                String host, DnsRecord[] additionals, InetAddress address, long ttlSeconds, EventLoop on) {
            String name = host.toLowerCase(Locale.ROOT);
            watches.values().forEach(watch -> watch.onTimeToLive(name, ttlSeconds));
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
            // Nothing is kept.
        }

        @Override
        public boolean clear(String host) {
            return false;
        }
    }

    private record Entry(InetAddress address, Throwable cause) implements DnsCacheEntry {}
}
