package dev.tidegate.listener;

import dev.tidegate.connection.ConnectionFactory;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ServerSocketChannel;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The listening sockets of the process.
 *
 * <p>Used by control's thread only; the sockets themselves live on workers' loops, each on one.
 */
public final class Listeners implements AutoCloseable {
    /**
     * One address to listen on.
     *
     * @param frontend whose connections it takes
     * @param address where
     * @param name its canonical form, for logs and labels
     * @param unackedMillis the limit that accepted sockets inherit
     */
    public record Spec(String frontend, InetSocketAddress address, String name, int unackedMillis) {}

    private final Transport transport;
    private final List<ConnectionFactory> workers;
    private final AcceptFaults faults;
    private final Map<Spec, Channel> bound = new LinkedHashMap<>();

    /**
     * @param transport of the process
     * @param workers the factories of all workers, by the workers' numbers
     * @param faults is told of failed accepts
     */
    public Listeners(Transport transport, List<ConnectionFactory> workers, AcceptFaults faults) {
        this.transport = transport;
        this.workers = List.copyOf(workers);
        this.faults = faults;
    }

    /**
     * Binds all, or none.
     *
     * @throws IOException naming the address that could not be had, and why
     */
    public void bind(List<Spec> specs) throws IOException {
        Placement placement = new Placement(workers);
        try {
            for (Spec spec : specs) {
                if (!coveredByDualStack(spec, specs)) {
                    bound.put(spec, bind(spec, specs, placement));
                }
            }
        } catch (IOException failed) {
            close();
            throw failed;
        }
    }

    private Channel bind(Spec spec, List<Spec> specs, Placement placement) throws IOException {
        int own = bound.size() % workers.size();
        boolean v6Only = transport.supportsV6Only() && isV6Wildcard(spec) && sameOnV4(spec, specs) != null;
        boolean refuseIpv6 = transport.acceptsOtherFamily() && spec.address().getAddress() instanceof Inet4Address;
        ServerSocketChannel channel = transport.openListener(spec.address().getAddress(), v6Only, spec.unackedMillis());
        channel.config().setOption(ChannelOption.SO_REUSEADDR, true);
        channel.config().setOption(ChannelOption.SO_BACKLOG, ChannelOptions.BACKLOG);
        channel.pipeline()
                .addLast(new Acceptor(spec.frontend(), spec.name(), transport, placement, own, refuseIpv6, faults));
        var registered =
                workers.get(own).context().worker().loop().register(channel).awaitUninterruptibly();
        var done = registered.isSuccess() ? channel.bind(spec.address()).awaitUninterruptibly() : registered;
        if (!done.isSuccess()) {
            channel.close().awaitUninterruptibly();
            throw new IOException(
                    "frontend \"" + spec.frontend() + "\": cannot listen on " + spec.name() + ": "
                            + plain(done.cause()),
                    done.cause());
        }
        return channel;
    }

    private static String plain(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        return message.toLowerCase(java.util.Locale.ROOT).contains("address already in use")
                ? "the address is already in use"
                : message;
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

    /** Where each listener is bound, with the real port where 0 was asked for. */
    public Map<Spec, InetSocketAddress> addresses() {
        Map<Spec, InetSocketAddress> addresses = new LinkedHashMap<>();
        bound.forEach((spec, channel) -> addresses.put(spec, (InetSocketAddress) channel.localAddress()));
        return addresses;
    }

    /** Stops listening everywhere. Connections go on. */
    @Override
    public void close() {
        new ArrayList<>(bound.values()).forEach(channel -> channel.close().awaitUninterruptibly());
        bound.clear();
    }
}
