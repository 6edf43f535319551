package dev.tidegate.dial;

import dev.tidegate.model.ProxyProtocol;
import io.netty.channel.Channel;
import io.netty.handler.codec.haproxy.HAProxyCommand;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageEncoder;
import io.netty.handler.codec.haproxy.HAProxyProtocolVersion;
import io.netty.handler.codec.haproxy.HAProxyProxiedProtocol;
import java.net.Inet4Address;
import java.net.InetSocketAddress;

/**
 * Tells an endpoint who its client is, before anything else (the PROXY protocol, versions 1 and 2, sections 2.1 and 2.2
 * of its specification). On the worker's loop.
 */
final class ProxyHeader {
    private ProxyHeader() {}

    static void write(Channel upstream, ProxyProtocol version, InetSocketAddress client, InetSocketAddress local) {
        boolean v4 = client.getAddress() instanceof Inet4Address && local.getAddress() instanceof Inet4Address;
        HAProxyMessage message = new HAProxyMessage(
                version == ProxyProtocol.V1 ? HAProxyProtocolVersion.V1 : HAProxyProtocolVersion.V2,
                HAProxyCommand.PROXY,
                v4 ? HAProxyProxiedProtocol.TCP4 : HAProxyProxiedProtocol.TCP6,
                text(client, v4),
                text(local, v4),
                client.getPort(),
                local.getPort());
        upstream.pipeline().addFirst(HAProxyMessageEncoder.INSTANCE);
        upstream.writeAndFlush(message, upstream.voidPromise());
        upstream.pipeline().remove(HAProxyMessageEncoder.INSTANCE);
    }

    private static String text(InetSocketAddress address, boolean v4) {
        String host = address.getAddress().getHostAddress();
        int zone = host.indexOf('%');
        String bare = zone < 0 ? host : host.substring(0, zone);
        // One side alone can be IPv4 only by a mapped address; the header names one family for both.
        return v4 || !(address.getAddress() instanceof Inet4Address) ? bare : "::ffff:" + bare;
    }
}
