package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HostCheckTest {
    @ParameterizedTest
    @CsvSource({
        "192.0.2.1:9000, true",
        "198.51.100.7, true", // an address cannot be made to point elsewhere
        "[2001:db8::1]:9000, true",
        "configured.example, true",
        "ADMIN.example:9000, true",
        "one.wild.example, true",
        "two.one.wild.example, false",
        "wild.example, false",
        "localhost, true",
        "evil.example, false",
        "'*.wild.example', true",
        "1.2.3, false",
        "'', false"
    })
    void beyondLoopbackAddressesAndCertifiedNamesAreItsHosts(String host, boolean allowed) throws Exception {
        InetAddress address = InetAddress.getByAddress("configured.example", new byte[] {(byte) 192, 0, 2, 1});
        HostCheck hosts = HostCheck.beyondLoopback(
                new AdminAddress.Tcp(new InetSocketAddress(address, 9000)), List.of("admin.example", "*.wild.example"));

        assertEquals(allowed, hosts.allows(host));
    }
}
