package dev.tidegate.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.model.CloseReason;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every state and every event of a connection, without sockets and with time in the hand. (Between its making and its
 * start nothing reaches a connection: its handler stands on no channel yet.)
 */
final class ConnectionTableTest {
    /** How the client's side stands after the event, how the endpoint's, and the reason once it is closed. */
    private static final String TABLE = """
            DIALING
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           closed, closed, client-reset
              ENDPOINT_RESET         open, open, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                reset, closed, dial-refused
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, closed, overload
              SILENCE                reset, closed, dial-timeout
            DIALING_FOR_ENDED
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           closed, closed, client-reset
              ENDPOINT_RESET         open, open, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, fin 200k, lives
              REFUSED                reset, closed, dial-refused
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, closed, overload
              SILENCE                reset, closed, client-closed
            RELAYING
              CLIENT_BYTES           open, open 200k, lives
              ENDPOINT_BYTES         open 200k, open, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           fin, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                closed, closed, idle
            CLIENT_ENDED
              CLIENT_BYTES           open, fin, lives
              ENDPOINT_BYTES         open 200k, fin, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           closed, closed, client-closed
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   reset, reset, client-reset
              ENDPOINT_REFUSES_BYTES open, fin, lives
              CLIENT_READS           open, fin, lives
              CONNECTED              open, fin, lives
              REFUSED                open, fin, lives
              RETIRED                open, fin, lives
              MAY_STAY               open, fin, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, half-closed-timeout
            ENDPOINT_ENDED
              CLIENT_BYTES           fin, open 200k, lives
              ENDPOINT_BYTES         fin, open, lives
              CLIENT_FIN             closed, closed, endpoint-closed
              ENDPOINT_FIN           fin, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   fin, open, lives
              ENDPOINT_REFUSES_BYTES reset, reset, endpoint-reset
              CLIENT_READS           fin, open, lives
              CONNECTED              fin, open, lives
              REFUSED                fin, open, lives
              RETIRED                fin, open, lives
              MAY_STAY               fin, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, half-closed-timeout
            BLOCKED
              CLIENT_BYTES           open, open 200k, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open 200k, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, idle
            ANSWER_BLOCKED
              CLIENT_BYTES           open, fin, lives
              ENDPOINT_BYTES         open, fin, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           open, fin, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   reset, reset, client-reset
              ENDPOINT_REFUSES_BYTES open, fin, lives
              CLIENT_READS           open 200k, fin, lives
              CONNECTED              open, fin, lives
              REFUSED                open, fin, lives
              RETIRED                open, fin, lives
              MAY_STAY               open, fin, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, half-closed-timeout
            BOTH_BLOCKED
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           open, open, lives
              CLIENT_RESET           reset, open, lives
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open 200k, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, idle
            ENDPOINT_REFUSES
              CLIENT_BYTES           open, open, lives
              ENDPOINT_BYTES         open 200k, open, lives
              CLIENT_FIN             open, open, lives
              ENDPOINT_FIN           reset, reset, endpoint-reset
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, endpoint-reset
            RETIRING
              CLIENT_BYTES           open, open 200k, lives
              ENDPOINT_BYTES         open 200k, open, lives
              CLIENT_FIN             open, fin, lives
              ENDPOINT_FIN           fin, open, lives
              CLIENT_RESET           reset, reset, client-reset
              ENDPOINT_RESET         reset, reset, endpoint-reset
              CLIENT_REFUSES_BYTES   open, open, lives
              ENDPOINT_REFUSES_BYTES open, open, lives
              CLIENT_READS           open, open, lives
              CONNECTED              open, open, lives
              REFUSED                open, open, lives
              RETIRED                open, open, lives
              MAY_STAY               open, open, lives
              ABORTED                reset, reset, overload
              SILENCE                closed, closed, shutdown
            FLUSHING
              CLIENT_BYTES           open, reset, lives
              ENDPOINT_BYTES         open, reset, lives
              CLIENT_FIN             open, reset, lives
              ENDPOINT_FIN           open, reset, lives
              CLIENT_RESET           closed, reset, endpoint-reset
              ENDPOINT_RESET         open, reset, lives
              CLIENT_REFUSES_BYTES   reset, reset, endpoint-reset
              ENDPOINT_REFUSES_BYTES open, reset, lives
              CLIENT_READS           open 200k, reset, lives
              CONNECTED              open, reset, lives
              REFUSED                open, reset, lives
              RETIRED                open, reset, lives
              MAY_STAY               open, reset, lives
              ABORTED                reset, reset, endpoint-reset
              SILENCE                reset, reset, endpoint-reset
            LINGERING
              CLIENT_BYTES           fin, closed, lives
              ENDPOINT_BYTES         fin, closed, lives
              CLIENT_FIN             closed, closed, shutdown
              ENDPOINT_FIN           fin, closed, lives
              CLIENT_RESET           closed, closed, shutdown
              ENDPOINT_RESET         fin, closed, lives
              CLIENT_REFUSES_BYTES   fin, closed, lives
              ENDPOINT_REFUSES_BYTES fin, closed, lives
              CLIENT_READS           fin, closed, lives
              CONNECTED              fin, closed, lives
              REFUSED                fin, closed, lives
              RETIRED                fin, closed, lives
              MAY_STAY               fin, closed, lives
              ABORTED                reset, closed, shutdown
              SILENCE                closed, closed, shutdown
            CLOSED
              CLIENT_BYTES           reset, reset, overload
              ENDPOINT_BYTES         reset, reset, overload
              CLIENT_FIN             reset, reset, overload
              ENDPOINT_FIN           reset, reset, overload
              CLIENT_RESET           reset, reset, overload
              ENDPOINT_RESET         reset, reset, overload
              CLIENT_REFUSES_BYTES   reset, reset, overload
              ENDPOINT_REFUSES_BYTES reset, reset, overload
              CLIENT_READS           reset, reset, overload
              CONNECTED              reset, reset, overload
              REFUSED                reset, reset, overload
              RETIRED                reset, reset, overload
              MAY_STAY               reset, reset, overload
              ABORTED                reset, reset, overload
              SILENCE                reset, reset, overload
            """;

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void everyEventDoesWhatTheTableSays(ConnectionStanding state) {
        StringBuilder seen = new StringBuilder(state + "\n");
        for (ConnectionEvent event : ConnectionEvent.values()) {
            try (ConnectionBench bench = new ConnectionBench()) {
                state.reach(bench);

                event.happen(bench);
                bench.crank.runReady();

                seen.append(String.format(Locale.ROOT, "  %-22s %s\n", event, bench.outcome()));
                bench.connection.abort(CloseReason.KILLED);
                bench.assertNothingLeft();
            }
        }
        assertEquals(rowsOf(state), seen.toString());
    }

    private static String rowsOf(ConnectionStanding state) {
        int begin = TABLE.indexOf(state + "\n");
        int end = begin + state.name().length() + 1;
        while (TABLE.startsWith("  ", end)) {
            end = TABLE.indexOf('\n', end) + 1;
        }
        return TABLE.substring(begin, end);
    }
}
