package dev.tidegate.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tidegate.model.CloseReason;
import dev.tidegate.model.RetireHow;
import dev.tidegate.model.Side;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What lines look like. */
final class LineFormatTest {
    private static final long END = Instant.parse("2026-11-29T12:34:56.078Z").toEpochMilli();

    private static String line(AccessLogFormat format, AccessRecord record) throws IOException {
        record.endMillis = END;
        LineBuffer out = new LineBuffer(16);
        LineFormat lines = format.lines();
        lines.write(record, out);
        int first = out.size();
        lines.write(record, out);
        String text = StandardCharsets.UTF_8.decode(out.unwritten()).toString();
        assertEquals(2 * first, out.size());
        return text.substring(0, first);
    }

    @Test
    void aJsonLineHasAllKeysInTheirOrder() throws IOException {
        String line = line(AccessLogFormat.JSON, Records.usual(1, 42));

        assertEquals(
                "{\"time\":\"2026-11-29T12:34:56.078Z\",\"id\":\"1-42\",\"frontend\":\"edge\","
                        + "\"listener\":\"0.0.0.0:8443\",\"client\":\"192.0.2.7:50123\",\"client_source\":\"peer\","
                        + "\"local\":\"[2001:db8::1]:8443\",\"backend\":\"gateways\",\"endpoint\":\"a\","
                        + "\"endpoint_address\":\"10.0.0.11:8080\",\"protocol\":\"tcp\",\"generation\":3,"
                        + "\"connect_ms\":1.234,\"first_byte_ms\":2.001,\"duration_ms\":61000.000,"
                        + "\"bytes_received\":517,\"bytes_sent\":12345678901,\"requests\":7,\"attempts\":2,"
                        + "\"closed_by\":\"client\",\"reason\":\"client-closed\",\"retired\":false,\"how\":null,"
                        + "\"cut_mid_exchange\":false}\n",
                line);
        List<String> keys = new ArrayList<>();
        new ObjectMapper().readTree(line).fieldNames().forEachRemaining(keys::add);
        assertEquals(List.of(JsonLineFormat.KEYS.split(" ", -1)), keys);
    }

    @Test
    void whatThereIsNotIsNull() throws IOException {
        JsonNode json = new ObjectMapper().readTree(line(AccessLogFormat.JSON, new AccessRecord()));

        for (String key : List.of(
                "frontend",
                "client",
                "local",
                "backend",
                "endpoint",
                "endpoint_address",
                "connect_ms",
                "first_byte_ms",
                "reason",
                "how")) {
            assertTrue(json.get(key).isNull(), key);
        }
        assertEquals("tidegate", json.get("closed_by").textValue());
    }

    @Test
    void aRetiredConnectionSaysHow() throws IOException {
        AccessRecord record = Records.usual(0, 1);
        record.reason = CloseReason.SHUTDOWN;
        record.closedBy = null;
        record.how = RetireHow.CUT;
        record.cutMidExchange = true;

        String line = line(AccessLogFormat.JSON, record);

        assertTrue(
                line.endsWith("\"closed_by\":\"tidegate\",\"reason\":\"shutdown\",\"retired\":true,\"how\":\"cut\","
                        + "\"cut_mid_exchange\":true}\n"),
                line);
    }

    @ParameterizedTest
    @EnumSource
    void namesCannotBreakALine(AccessLogFormat format) throws IOException {
        AccessRecord record = Records.usual(0, 1);
        record.frontend = "a\nb\r\u0000\u001b[2J \u2028\u0085#\u00e9/\"\\";
        record.endpoint = "x y";

        String line = line(format, record);

        assertTrue(line.chars().limit(line.length() - 1L).noneMatch(c -> c < ' ' || c >= 0x7f), line);
        if (format == AccessLogFormat.JSON) {
            assertEquals(
                    record.frontend,
                    new ObjectMapper().readTree(line).get("frontend").textValue());
        } else {
            assertTrue(line.contains("a#0Ab#0D#00#1B[2J#20#E2#80#A8#C2#85#23#C3#A9#2F\"\\ gateways/x#20y "), line);
        }
    }

    @Test
    void aHaproxyLineIsLaidOutAsTcplog() throws IOException {
        AccessRecord refused = new AccessRecord();
        refused.frontend = "edge";
        refused.client = Records.address("2001:db8::7", 50123);
        refused.reason = CloseReason.REJECTED_LIMIT;

        assertEquals(
                "192.0.2.7:50123 [29/Nov/2026:12:33:55.078] edge gateways/a 0/1/61000 12345678901 -- 0/0/0/0/1 0/0\n",
                line(AccessLogFormat.HAPROXY, Records.usual(1, 42)));
        assertEquals(
                "2001:db8::7:50123 [29/Nov/2026:12:34:56.078] edge edge/<NOSRV> -1/-1/0 0 PC 0/0/0/0/0 0/0\n",
                line(AccessLogFormat.HAPROXY, refused));
    }

    @Test
    void aClientThatWasGoneBeforeItsAddressWasReadHasNone() throws IOException {
        AccessRecord gone = Records.usual(1, 42);
        gone.client = null;

        assertTrue(line(AccessLogFormat.HAPROXY, gone).startsWith("-:- [29/Nov/2026:12:33:55.078] edge "));
    }

    @Test
    void theDocumentedTerminationCodesAreTheOnesWritten() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        Matcher row = Pattern.compile("(?m)^\\| `([a-z-]+)` \\| `(..)` \\| `(..)` \\|")
                .matcher(Files.readString(Path.of("../docs/access-log.md")));
        while (row.find()) {
            documented.put(row.group(1), row.group(2) + " " + row.group(3));
        }

        Map<String, String> written = new TreeMap<>();
        for (CloseReason reason : CloseReason.values()) {
            written.put(
                    reason.word(),
                    HaproxyLineFormat.termination(reason, false, null) + " "
                            + HaproxyLineFormat.termination(reason, true, null));
        }
        assertEquals(written, documented);
    }

    @Test
    void silenceIsPutDownToTheSideThatOwedTheEnd() {
        assertEquals("sD", HaproxyLineFormat.termination(CloseReason.HALF_CLOSED_TIMEOUT, true, Side.DOWNSTREAM));
        assertEquals("cD", HaproxyLineFormat.termination(CloseReason.HALF_CLOSED_TIMEOUT, true, Side.UPSTREAM));
        assertEquals("sD", HaproxyLineFormat.termination(CloseReason.UNACKED, true, Side.UPSTREAM));
        assertEquals("cD", HaproxyLineFormat.termination(CloseReason.UNACKED, true, Side.DOWNSTREAM));
    }

    // RFC 5952, section 4.
    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, 127.0.0.1:80",
        "::, [::]:80",
        "::1, [::1]:80",
        "1::, [1::]:80",
        "2001:0DB8:0:0:0:0:0:1, [2001:db8::1]:80",
        "2001:db8:0:1:1:1:1:1, [2001:db8:0:1:1:1:1:1]:80",
        "2001:db8:0:0:1:0:0:1, [2001:db8::1:0:0:1]:80",
        "2001:0:0:1:0:0:0:1, [2001:0:0:1::1]:80",
        "0:0:1:1:1:1:0:0, [::1:1:1:1:0:0]:80",
        "fe80:0:0:0:1:2:3:ABCD, [fe80::1:2:3:abcd]:80"
    })
    void addressesHaveOneCanonicalForm(String literal, String canonical) {
        assertEquals(canonical, AddressText.of(Records.address(literal, 80)));
    }

    @Test
    void mappedUnresolvedAndUnixAddressesAreReadable() throws IOException {
        byte[] mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xff, (byte) 0xff, 10, 0, 0, 1};

        assertEquals(
                "10.0.0.1:1", AddressText.of(new InetSocketAddress(Inet6Address.getByAddress("h", mapped, -1), 1)));
        assertEquals("name.invalid:2", AddressText.of(InetSocketAddress.createUnresolved("name.invalid", 2)));
        assertEquals("unix:/run/x", AddressText.of(java.net.UnixDomainSocketAddress.of("/run/x")));
    }
}
