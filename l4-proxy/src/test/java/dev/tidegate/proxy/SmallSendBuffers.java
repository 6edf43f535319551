package dev.tidegate.proxy;

import dev.tidegate.listener.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * A transport whose relayed sockets have a small SO_SNDBUF. On loopback the kernel lets a send buffer grow to megabytes, all
 * of which must fill before a slow reader is felt.
 */
final class SmallSendBuffers {
    private SmallSendBuffers() {}

    static Transport of(Transport transport, int bytes) {
        return (Transport) Proxy.newProxyInstance(
                SmallSendBuffers.class.getClassLoader(),
                new Class<?>[] {Transport.class},
                (proxy, method, arguments) -> {
                    Object result;
                    try {
                        result = method.invoke(transport, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                    switch (method.getName()) {
                        case "open" -> shrink((Channel) result, bytes);
                        case "prepareAccepted" -> shrink((Channel) arguments[0], bytes);
                        default -> {}
                    }
                    return result;
                });
    }

    private static void shrink(Channel channel, int bytes) {
        channel.config().setOption(ChannelOption.SO_SNDBUF, bytes);
    }
}
