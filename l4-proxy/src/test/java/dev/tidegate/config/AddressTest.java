package dev.tidegate.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class AddressTest {
    @ParameterizedTest
    @CsvSource({
        "10.0.0.1:80, 10.0.0.1:80",
        "[::1]:80, [::1]:80",
        "[0:0:0:0:0:0:0:1]:80, [::1]:80",
        "[2001:DB8:0:0:1:0:0:1]:80, [2001:db8::1:0:0:1]:80",
        "[2001:db8:0:1:1:1:1:1]:80, [2001:db8:0:1:1:1:1:1]:80",
        "[2001:0:0:1:0:0:0:1]:80, [2001:0:0:1::1]:80",
        "[1:2:3:4:5:6:7::]:80, [1:2:3:4:5:6:7:0]:80",
        "[fe80::]:80, [fe80::]:80",
        "[::ffff:1.2.3.4]:80, 1.2.3.4:80",
        "[::ffff:102:304]:80, 1.2.3.4:80",
        "[64:ff9b::1.2.3.4]:80, [64:ff9b::102:304]:80",
    })
    void aLiteralIsCanonicalAndNeedsNoDns(String text, String canonical) {
        EndpointAddress address = EndpointAddress.parse(text);
        assertEquals(canonical, address.toString());
        assertTrue(address.literal());
        assertEquals(address, EndpointAddress.parse(canonical));
    }

    @ParameterizedTest
    @CsvSource({
        "DB.Internal:5432, db.internal:5432",
        "my_service:80, my_service:80",
        "example.com.:80, example.com.:80",
        "1a.example:80, 1a.example:80",
        "localhost:80, localhost:80",
    })
    void aNameIsKeptInLowerCase(String text, String canonical) {
        EndpointAddress address = EndpointAddress.parse(text);
        assertEquals(canonical, address.toString());
        assertFalse(address.literal());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "::1:7001 | an IPv6 host needs brackets; write [::1]:7001",
                "2001:db8:1:2:3:4:5:6 | has no port; write [2001:db8:1:2:3:4:5:6]:PORT",
                "[::1] | has no port; write [::1]:PORT",
                "[::1]: | has no port",
                "[::1 | has no closing bracket",
                "[fe80::1%eth0]:80 | has a zone id",
                "fe80::1%eth0 | has a zone id",
                "[10.0.0.1]:80 | is no IPv6 address",
                "[1::2::3]:80 | is no IPv6 address",
                "[12345::]:80 | is no IPv6 address",
                "[1:2:3:4:5:6:7:8:9]:80 | is no IPv6 address",
                "[::1.2.3]:80 | is no IPv6 address",
                "10.0.0.1:0 | port 0 is out of range; write a port in 1..65535",
                "10.0.0.1:65536 | port 65536 is out of range; write a port in 1..65535",
                "10.0.0.1:99999999999999999999999 | is out of range",
                "10.0.0.1:http | port \"http\" is not a number",
                "10.0.0.1:-1 | is not a number",
                "10.0.0.1:080 | begins with a zero; write 80",
                "10.0.0.1 | has no port; write HOST:PORT",
                "8080 | has no host; write HOST:PORT",
                ":8080 | has no host; write HOST:PORT",
                "256.0.0.1:80 | is no IPv4 address",
                "010.0.0.1:80 | is no IPv4 address",
                "1.2.3:80 | is no IPv4 address",
                "0x7f000001:80 | is no IPv4 address",
                "http://10.0.0.1:80 | is a URL",
                "a..b:80 | is no host name",
                "-a:80 | is no host name",
                "a b:80 | is no host name",
                "0.0.0.0:80 | is no address to connect to",
                "[::]:80 | is no address to connect to",
                "224.0.0.1:80 | is no address to connect to",
                "unix:/x | endpoints are reached over TCP only",
            })
    void aBadEndpointAddressIsRefusedWithAHint(String text, String expected) {
        String message = assertThrows(IllegalArgumentException.class, () -> EndpointAddress.parse(text))
                .getMessage();
        assertTrue(message.contains(expected), message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "systemd: | names no socket of systemd's; write systemd:NAME with the socket unit's FileDescriptorName=",
                "systemd:a:b | names no socket of systemd's",
                "systemd:a b | names no socket of systemd's",
                "localhost:80 | takes an IP address, not a name; write 127.0.0.1:80 or [::1]:80",
                "example.com:80 | takes an IP address, not a name",
                "*:80 | has no host; write HOST:PORT, as in 0.0.0.0:8080",
                "/run/x.sock | is a path; write unix:/run/x.sock",
                "unix:x.sock | names no file by its full path",
                "unix: | names no file by its full path",
                "224.0.0.1:80 | multicast",
            })
    void aBadListenAddressIsRefusedWithAHint(String text, String expected) {
        String message = assertThrows(IllegalArgumentException.class, () -> ListenAddress.parse(text))
                .getMessage();
        assertTrue(message.contains(expected), message);
    }

    @Test
    void aNameOfSystemdsMayBeThatOfTheUnit() {
        assertEquals(new ListenAddress.Systemd("tidegate.socket"), ListenAddress.parse("systemd:tidegate.socket"));
        assertEquals(new ListenAddress.Systemd("web"), ListenAddress.parse("systemd:web"));
        assertThrows(IllegalArgumentException.class, () -> ListenAddress.parse("systemd:" + "x".repeat(256)));
    }

    @Test
    void aListenAddressMayLeaveThePortToTheSystem() {
        assertEquals(new ListenAddress.Tcp("127.0.0.1", 0), ListenAddress.parse("[::ffff:127.0.0.1]:0"));
    }

    @Test
    void aUnixPathIsAsLongAsTheKernelHolds() {
        String longest = "/" + "x".repeat(106);
        assertEquals(new ListenAddress.Unix(longest), ListenAddress.parse("unix:" + longest));
        assertThrows(IllegalArgumentException.class, () -> ListenAddress.parse("unix:" + longest + "x"));
        assertThrows(IllegalArgumentException.class, () -> ListenAddress.parse("unix:/" + "é".repeat(54)));
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:80, 127.0.0.1:80, true",
        "0.0.0.0:80, 127.0.0.1:80, true",
        "0.0.0.0:80, 127.0.0.1:81, false",
        "10.0.0.1:80, 10.0.0.2:80, false",
        "[::]:80, 0.0.0.0:80, false",
        "[::]:80, 127.0.0.1:80, true",
        "[::]:80, [::1]:80, true",
        "[::1]:80, 127.0.0.1:80, false",
        "[::1]:80, 0.0.0.0:80, false",
        "127.0.0.1:0, 127.0.0.1:0, false",
        "unix:/a, unix:/a, true",
        "unix:/a, unix:/b, false",
    })
    void overlappingListenAddressesConflict(String a, String b, boolean conflict) {
        assertEquals(conflict, ListenAddresses.conflict(ListenAddress.parse(a), ListenAddress.parse(b)));
        assertEquals(conflict, ListenAddresses.conflict(ListenAddress.parse(b), ListenAddress.parse(a)));
    }

    @Property
    void ipv6AgreesWithTheJdkInBothDirections(@ForAll @Size(16) byte[] bytes) throws UnknownHostException {
        InetAddress jdk = InetAddress.getByAddress(bytes);
        IpText ip = IpText.parse(jdk.getHostAddress()).orElseThrow();
        assertEquals(jdk, InetAddress.getByName(ip.toString()));
        assertEquals(jdk.isMulticastAddress(), ip.multicast());
        assertEquals(jdk.isLoopbackAddress(), ip.loopback());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":", "[", "]", "[]", "[]:80", ":::80", "%:80", "a:b:c", "unix", "[:]:1", "\u0000:80"})
    void anythingElseIsRefusedToo(String text) {
        assertThrows(IllegalArgumentException.class, () -> EndpointAddress.parse(text));
        assertThrows(IllegalArgumentException.class, () -> ListenAddress.parse(text));
    }
}
