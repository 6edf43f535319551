package dev.tidegate.control;

import java.net.InetAddress;

/**
 * Where an endpoint that was added at run time may not be: whoever may add endpoints could otherwise have connections sent
 * to what only this machine may talk to. Loopback is fine, and so is all that the configuration file names. Stateless.
 */
final class UnfitAddress {
    private UnfitAddress() {}

    /** Whether it is such an address, be it written so or what a name resolves to. */
    static boolean is(InetAddress address) {
        return address.isLinkLocalAddress() || address.isAnyLocalAddress() || address.isMulticastAddress();
    }
}
