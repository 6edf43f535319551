package dev.tidegate.listener;

import dev.tidegate.connection.ConnectionFactory;
import dev.tidegate.model.Snapshot;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.unix.UnixChannel;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening sockets of the process, and how they change: what is new is bound first, without accepting; then either all
 * of the change is carried out or nothing of it. A socket that stays is not touched, whichever frontend it goes to. None
 * accepts before {@link #accept}: until then who comes waits in the kernel's queue.
 *
 * <p>A socket from systemd is the process's for its life: when no frontend wants it, it is parked, which is to say that it
 * resets whoever comes, and a frontend that wants it later finds it again. A socket from the process before goes to whoever
 * wants its place, which is its key and, of several with one key, a number; the others are closed.
 *
 * <p>Used by control's thread only, save for {@link #addresses}; the sockets themselves live on workers' loops, each on
 * one.
 */
public final class Listeners implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    /** A worker that is stuck may not hold up the rest: so long closing waits for all sockets together. */
    private static final long CLOSE_SECONDS = 2;

    /**
     * One address to listen on.
     *
     * @param frontend whose connections it takes
     * @param address where
     * @param name its canonical form, for logs and labels
     * @param unackedMillis the limit that accepted sockets inherit
     * @param passed the socket that systemd has for it; empty for one to bind
     */
    public record Spec(
            String frontend,
            InetSocketAddress address,
            String name,
            int unackedMillis,
            Optional<InheritedSocket> passed) {
        /** An address to bind, or to have from the process before. */
        public Spec(String frontend, InetSocketAddress address, String name, int unackedMillis) {
            this(frontend, address, name, unackedMillis, Optional.empty());
        }
    }

    /**
     * A socket, and what it was last wanted for.
     *
     * @param spec what the configuration says of it
     * @param v6Only whether it leaves IPv4 to another, which cannot be changed once it is bound
     */
    private record Bound(Spec spec, ServerSocketChannel channel, boolean v6Only, Acceptor acceptor) {
        /** Whether it came from systemd, and could never be had again once it was closed. */
        boolean passed() {
            return spec.passed().isPresent();
        }
    }

    private final Transport transport;
    private final List<ConnectionFactory> workers;
    private final Placement placement;
    private final AcceptFaults faults;
    private final InheritedSockets inherited;
    private Map<String, Bound> bound = new LinkedHashMap<>();
    private final Map<String, Bound> parked = new LinkedHashMap<>();
    private final Map<String, InheritedSocket> handedOver = new LinkedHashMap<>(); // by place; what nobody has yet
    private int opened;
    private boolean accepting;
    private volatile Map<Spec, InetSocketAddress> addresses = Map.of(); // writer: control

    /**
     * @param transport of the process
     * @param workers the factories of all workers, by the workers' numbers
     * @param faults is told of failed accepts
     */
    public Listeners(Transport transport, List<ConnectionFactory> workers, AcceptFaults faults) {
        this(transport, workers, faults, InheritedSockets.NONE);
    }

    /**
     * @param transport of the process
     * @param workers the factories of all workers, by the workers' numbers
     * @param faults is told of failed accepts
     * @param inherited sockets that are open already, as far as frontends may have them
     */
    public Listeners(
            Transport transport, List<ConnectionFactory> workers, AcceptFaults faults, InheritedSockets inherited) {
        this.inherited = inherited;
        inherited.all().stream()
                .filter(each -> each.name().isEmpty() && each.tcp().isPresent())
                .forEach(each -> handedOver.put(each.place(), each));
        this.transport = transport;
        this.workers = List.copyOf(workers);
        this.placement = new Placement(workers);
        this.faults = faults;
    }

    /**
     * Binds what is wanted and not there yet, without accepting on it. Nothing that is there changes.
     *
     * @param specs all that is wanted
     * @return the change, to be committed or rolled back
     * @throws IOException naming the address that could not be had, and why; nothing is left bound of what was new
     */
    public Change prepare(List<Spec> specs) throws IOException {
        Map<String, Bound> next = new LinkedHashMap<>();
        Map<String, Bound> fresh = new LinkedHashMap<>();
        try {
            for (Spec spec : specs) {
                if (spec.passed().isPresent() || !coveredByDualStack(spec, specs)) {
                    String key = Snapshot.listenerKey(spec.frontend(), spec.name());
                    String place = placeFor(key, next);
                    boolean v6Only = spec.passed().isEmpty()
                            && transport.supportsV6Only()
                            && isV6Wildcard(spec)
                            && sameOnV4(spec, specs) != null;
                    Bound kept = bound.getOrDefault(place, parked.get(place));
                    if (kept == null) {
                        kept = open(spec, key, place, v6Only);
                        fresh.put(place, kept);
                    } else if (kept.v6Only() != v6Only) {
                        throw new IOException(familiesFixed(spec, v6Only));
                    }
                    next.put(place, new Bound(spec, kept.channel(), v6Only, kept.acceptor()));
                }
            }
        } catch (IOException | RuntimeException failed) {
            giveUp(fresh);
            throw failed;
        }
        return new Change(next, fresh);
    }

    /** Port 0 may be wanted more than once, each time another socket. */
    private static String placeFor(String key, Map<String, Bound> taken) {
        String place = key;
        for (int more = 2; taken.containsKey(place); more++) {
            place = key + " #" + more;
        }
        return place;
    }

    /**
     * Parks the sockets from systemd that no frontend has, and closes those from the process before. To be called once,
     * after the first commit.
     *
     * @throws IOException when one cannot be had
     */
    public void settleUnused() throws IOException {
        for (InheritedSocket each : handedOver.values()) {
            each.close();
        }
        handedOver.clear();
        Map<String, Bound> taken = new LinkedHashMap<>(bound);
        for (InheritedSocket each : inherited.all()) {
            boolean used = bound.values().stream()
                    .anyMatch(socket -> socket.spec().passed().equals(Optional.of(each)));
            if (!used && !each.name().isEmpty() && each.tcp().isPresent() && transport.adoptsListeners()) {
                Spec spec = new Spec("", each.tcp().get(), each.toString(), 0, Optional.of(each));
                String place = placeFor(each.toString(), taken);
                Bound socket = open(spec, each.toString(), place, false);
                taken.put(place, socket);
                park(place, socket);
            }
        }
    }

    /** From here on whoever comes is accepted, and who has come; by a socket that is parked he is reset. */
    public void accept() {
        accepting = true;
        bound.values().forEach(this::acceptOn);
        parked.values().forEach(this::acceptOn);
    }

    /** Whether sockets from systemd can be had in this process, if they were passed. */
    public boolean adoptsSockets() {
        return transport.adoptsListeners();
    }

    /**
     * The sockets that systemd passed under that name.
     *
     * @throws IOException when there is none, or one that is none for TCP; its message is for the operator
     */
    public List<InheritedSocket> passed(String frontend, String name) throws IOException {
        String user = "frontend \"" + frontend + "\"";
        List<InheritedSocket> named = inherited.named(user, name);
        for (InheritedSocket each : named) {
            if (each.tcp().isEmpty()) {
                throw new IOException(user + ": systemd:" + name + ": descriptor " + each.fd() + " is the UNIX socket "
                        + each.address().orElseThrow()
                        + "; a frontend listens on TCP, give it a port in ListenStream=");
            }
        }
        return named;
    }

    /** A change that is prepared: new sockets are bound and accept nothing yet. Control's thread only; once only. */
    public final class Change {
        private final Map<String, Bound> next;
        private final Map<String, Bound> fresh;

        private Change(Map<String, Bound> next, Map<String, Bound> fresh) {
            this.next = next;
            this.fresh = fresh;
        }

        /**
         * Accepts on what is new, if it accepts at all yet; closes what is no longer wanted. The snapshot that says whose each
         * socket is must have been published before.
         */
        public void commit() {
            Map<String, Bound> before = bound;
            bound = next;
            publishAddresses();
            fresh.values().forEach(Listeners.this::acceptOn);
            next.forEach((key, now) -> {
                Bound was = before.getOrDefault(key, parked.remove(key));
                if (was != null && was.spec().unackedMillis() != now.spec().unackedMillis()) {
                    setUnacked(now);
                }
                now.acceptor().park(false);
            });
            Map<String, Bound> gone = new LinkedHashMap<>(before);
            gone.keySet().removeAll(next.keySet());
            giveUp(gone);
        }

        /** Closes what is new, save for what could not be had again. */
        public void rollback() {
            giveUp(fresh);
        }
    }

    /** Closes all, but parks those from systemd. */
    private void giveUp(Map<String, Bound> sockets) {
        List<Bound> closing = new ArrayList<>();
        sockets.forEach((place, each) -> {
            if (each.passed()) {
                park(place, each);
            } else {
                closing.add(each);
            }
        });
        closeAll(closing);
    }

    /** From here on whoever comes is reset, as by an address that nobody listens on. */
    private void park(String place, Bound socket) {
        socket.acceptor().park(true);
        parked.put(place, socket);
        acceptOn(socket);
    }

    private void acceptOn(Bound socket) {
        if (accepting) {
            socket.channel().config().setAutoRead(true);
        }
    }

    private static void closeAll(List<Bound> all) {
        List<ChannelFuture> closes =
                all.stream().map(each -> each.channel().close()).toList();
        CountDownLatch left = new CountDownLatch(closes.size());
        closes.forEach(close -> close.addListener(done -> left.countDown()));
        try {
            if (!left.await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.error("listeners are not closed yet, their workers are stuck listeners={}", left.getCount());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sockets accepted from now on inherit it; where nothing is inherited, the option is not known and nothing happens. */
    private static void setUnacked(Bound listener) {
        listener.channel()
                .config()
                .setOption(ChannelOptions.TCP_USER_TIMEOUT, listener.spec().unackedMillis());
    }

    private void publishAddresses() {
        Map<Spec, InetSocketAddress> now = new LinkedHashMap<>();
        bound.values().forEach(each -> now.put(each.spec(), each.channel().localAddress()));
        addresses = Collections.unmodifiableMap(now);
    }

    private Bound open(Spec spec, String key, String place, boolean v6Only) throws IOException {
        int own = opened++ % workers.size();
        Optional<InheritedSocket> open = spec.passed().or(() -> Optional.ofNullable(handedOver.get(place)));
        if (open.isPresent() && spec.passed().isEmpty()) {
            if (open.get().v6Only() != v6Only) {
                throw new IOException(familiesFixed(spec, v6Only));
            }
            handedOver.remove(place); // once only: closed one day, its number is another's
        }
        boolean refuseIpv6 = transport.acceptsOtherFamily() && spec.address().getAddress() instanceof Inet4Address;
        Acceptor acceptor = new Acceptor(key, spec.name(), transport, placement, own, refuseIpv6, faults);
        ServerSocketChannel channel;
        try {
            channel = open.isPresent()
                    ? prepared(transport.adoptListener(open.get().fd(), spec.unackedMillis()), acceptor, false)
                    : prepared(
                            transport.openListener(spec.address().getAddress(), v6Only, spec.unackedMillis()),
                            acceptor,
                            true);
        } catch (ChannelException | UnsupportedOperationException failed) {
            throw cannotListen(spec, failed);
        }
        var registered =
                workers.get(own).context().worker().loop().register(channel).awaitUninterruptibly();
        var done = registered.isSuccess() && open.isEmpty()
                ? channel.bind(spec.address()).awaitUninterruptibly()
                : registered;
        if (!done.isSuccess()) {
            channel.close().awaitUninterruptibly();
            throw cannotListen(spec, done.cause());
        }
        return new Bound(spec, channel, v6Only, acceptor);
    }

    private static ServerSocketChannel prepared(ServerSocketChannel channel, Acceptor acceptor, boolean toBind) {
        try {
            if (toBind) {
                channel.config().setOption(ChannelOption.SO_REUSEADDR, true);
                channel.config().setOption(ChannelOption.SO_BACKLOG, ChannelOptions.BACKLOG);
            }
            // Accepting begins with the snapshot that says whose this is.
            channel.config().setAutoRead(false);
            channel.pipeline().addLast(acceptor);
        } catch (RuntimeException failed) {
            channel.unsafe().closeForcibly(); // it has no loop yet that could close it
            throw failed;
        }
        return channel;
    }

    private IOException cannotListen(Spec spec, Throwable cause) {
        return new IOException(
                "frontend \"" + spec.frontend() + "\": cannot listen on " + spec.name() + ": " + plain(cause)
                        + overlap(spec),
                cause);
    }

    /** Why it is in use, when it is by ourselves: a socket has to go before one that overlaps it can come. */
    private String overlap(Spec spec) {
        for (Bound other : bound.values()) {
            boolean samePort = spec.address().getPort() != 0
                    && other.spec().address().getPort() == spec.address().getPort();
            if (samePort
                    && (isWildcard(spec) || isWildcard(other.spec()))
                    && !other.spec().name().equals(spec.name())) {
                return ", by " + other.spec().name() + " of frontend \""
                        + other.spec().frontend()
                        + "\", which this process still listens on; take that away with one reload and add this with the"
                        + " next, or restart";
            }
        }
        return "";
    }

    private static String familiesFixed(Spec spec, boolean v6Only) {
        return "frontend \"" + spec.frontend() + "\": " + spec.name() + " would have to "
                + (v6Only ? "leave IPv4 to" : "take IPv4 too, without")
                + " a listener on 0.0.0.0 with its port, which cannot be changed while it listens; restart";
    }

    private static boolean isWildcard(Spec spec) {
        return spec.address().getAddress().isAnyLocalAddress();
    }

    private static String plain(Throwable failed) {
        Throwable cause = failed;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        return plain(message);
    }

    /** The kernel's words, which each transport dresses in its own way, in ours and with what to do. */
    static String plain(String message) {
        String lower = message.toLowerCase(Locale.ROOT);
        if (lower.contains("address already in use")) {
            return "the address is already in use";
        }
        if (lower.contains("permission denied")) {
            return "permission denied; a port below 1024 needs CAP_NET_BIND_SERVICE (AmbientCapabilities= in a unit), or"
                    + " take a higher one";
        }
        if (lower.contains("cannot assign requested address")) {
            return "no interface of this machine has the address; write one that it has, or 0.0.0.0 or [::] for all";
        }
        return message;
    }

    /** Where IPV6_V6ONLY cannot be had, a [::] listener takes the connections of the 0.0.0.0 beside it too. */
    private boolean coveredByDualStack(Spec spec, List<Spec> specs) throws IOException {
        boolean v4Wildcard = spec.address().getAddress() instanceof Inet4Address
                && spec.address().getAddress().isAnyLocalAddress();
        if (transport.supportsV6Only() || !v4Wildcard || spec.address().getPort() == 0) {
            return false;
        }
        for (Spec other : specs) {
            if (isV6Wildcard(other)
                    && other.address().getPort() == spec.address().getPort()) {
                if (!other.frontend().equals(spec.frontend())) {
                    throw new IOException("frontend \"" + spec.frontend() + "\": cannot listen on " + spec.name()
                            + " beside " + other.name() + " of frontend \"" + other.frontend() + "\" with transport "
                            + transport.name() + "; use epoll, or one frontend for both");
                }
                return true;
            }
        }
        return false;
    }

    private static boolean isV6Wildcard(Spec spec) {
        return !(spec.address().getAddress() instanceof Inet4Address)
                && spec.address().getAddress().isAnyLocalAddress();
    }

    private static Spec sameOnV4(Spec v6, List<Spec> specs) {
        for (Spec spec : specs) {
            if (spec.address().getAddress() instanceof Inet4Address
                    && spec.address().getAddress().isAnyLocalAddress()
                    && spec.address().getPort() == v6.address().getPort()) {
                return spec;
            }
        }
        return null;
    }

    /**
     * All sockets, those that are parked too, to be handed to another process. Only where the transport has descriptors of
     * its own: where {@link #adoptsSockets} says yes.
     *
     * @return names and places as {@link InheritedSockets.Descriptor} has them
     */
    public List<InheritedSockets.Descriptor> descriptors() {
        Map<String, Bound> all = new LinkedHashMap<>(bound);
        all.putAll(parked);
        List<InheritedSockets.Descriptor> descriptors = new ArrayList<>();
        all.forEach((place, socket) -> descriptors.add(new InheritedSockets.Descriptor(
                socket.spec().passed().map(InheritedSocket::name).orElse(""),
                place,
                ((UnixChannel) socket.channel()).fd().intValue())));
        return descriptors;
    }

    /** Where each listener is bound, with the real port where 0 was asked for, in the order of the specs. Any thread. */
    public Map<Spec, InetSocketAddress> addresses() {
        return addresses;
    }

    /**
     * Stops listening everywhere, and gives all sockets up: those from systemd too, which keeps its own, so that the next
     * process finds in the queue who came meanwhile. Connections go on.
     */
    @Override
    public void close() {
        List<Bound> all = new ArrayList<>(bound.values());
        all.addAll(parked.values());
        closeAll(all);
        parked.clear();
        bound = Map.of();
        publishAddresses();
    }
}
