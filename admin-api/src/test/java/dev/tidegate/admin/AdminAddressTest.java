package dev.tidegate.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminAddressTest {
    @ParameterizedTest
    @CsvSource({"0:0:0:0:0:0:0:1, [::1]:9000", "127.0.0.1, 127.0.0.1:9000"})
    void anAddressIsShownInItsCanonicalForm(String literal, String shown) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(literal), 9000);

        assertEquals(shown, AdminAddress.tcp(address).toString());
    }
}
