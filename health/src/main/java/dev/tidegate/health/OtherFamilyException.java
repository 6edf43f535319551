package dev.tidegate.health;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;

/** A check's source and where it goes are of different families: from there nobody comes here. */
final class OtherFamilyException extends IOException {
    private static final long serialVersionUID = 1L;

    OtherFamilyException(InetSocketAddress source, InetSocketAddress target) {
        super("source " + NetUtil.toAddressString(source.getAddress()) + " cannot reach "
                + NetUtil.toSocketAddressString(target) + ", which is "
                + (target.getAddress() instanceof Inet6Address ? "IPv6" : "IPv4"));
    }
}
