package dev.tidegate.systemd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidegate.systemd.ListenFds.MalformedException;
import dev.tidegate.systemd.ListenFds.Passed;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListenFdsTest {
    private static final long PID = 4_711;

    @Test
    void descriptorsCountFromThreeAndSeveralMayShareAName() throws Exception {
        assertEquals(
                List.of(new Passed("web", 3), new Passed("web", 4), new Passed("admin", 5)),
                read(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", "3", "LISTEN_FDNAMES", "web:web:admin")));
    }

    @Test
    void withoutNamesEachIsUnknownAsForSystemdItself() throws Exception {
        assertEquals(
                List.of(new Passed("unknown", 3), new Passed("unknown", 4)),
                read(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", "2")));
    }

    @Test
    void theNameOfASocketUnitIsAName() throws Exception {
        assertEquals(
                List.of(new Passed("tidegate.socket", 3)),
                read(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", "1", "LISTEN_FDNAMES", "tidegate.socket")));
    }

    @Test
    void whatIsMeantForAnotherProcessIsNotOurs() throws Exception {
        assertEquals(
                List.of(),
                read(Map.of("LISTEN_PID", "4710", "LISTEN_FDS", "nonsense", "LISTEN_FDNAMES", "of:another")));
    }

    @Test
    void nothingPassedIsNoSocket() throws Exception {
        assertEquals(List.of(), read(Map.of()));
        assertEquals(List.of(), read(Map.of("LISTEN_FDS", "2")));
        assertEquals(List.of(), read(Map.of("LISTEN_PID", "4711")));
        assertEquals(List.of(), read(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", "0", "LISTEN_FDNAMES", "")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "+1", "1.0", "two", " 1", "99999999999999999999", "70000"})
    void aCountThatIsNoneIsRefusedByItsName(String count) {
        String message = refused(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", count));
        assertTrue(message.startsWith("LISTEN_FDS=\"" + count + "\" is no number"), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-4711", "me", "4711\n"})
    void aReceiverThatIsNoneIsRefusedOnOneLine(String pid) {
        String message = refused(Map.of("LISTEN_PID", pid, "LISTEN_FDS", "1"));
        assertTrue(message.startsWith("LISTEN_PID=\""), message);
        assertEquals(1, message.lines().count());
    }

    @Test
    void namesThatAreMoreOrFewerThanTheSocketsAreRefused() {
        String message = refused(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", "2", "LISTEN_FDNAMES", "one"));
        assertTrue(message.contains("has 1 names, but LISTEN_FDS says 2 sockets"), message);
    }

    @Test
    void aNameThatCannotBeWrittenDownIsRefused() {
        String message = refused(Map.of("LISTEN_PID", "4711", "LISTEN_FDS", "1", "LISTEN_FDNAMES", "b\u0007ll"));
        assertTrue(message.contains("\"b?ll\" is no name of a socket"), message);
    }

    private static List<Passed> read(Map<String, String> environment) throws MalformedException {
        return ListenFds.of(environment::get, PID).sockets();
    }

    private static String refused(Map<String, String> environment) {
        return assertThrows(MalformedException.class, () -> read(environment)).getMessage();
    }
}
