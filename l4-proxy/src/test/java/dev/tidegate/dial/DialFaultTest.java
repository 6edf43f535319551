package dev.tidegate.dial;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tidegate.model.CloseReason;
import dev.tidegate.model.ConnectResult;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import org.junit.jupiter.api.Test;

class DialFaultTest {
    @Test
    void aRefusalIsKnownHoweverTheTransportWordsIt() {
        assertEquals(ConnectResult.REFUSED, DialFault.of(new ConnectException("Connection refused: /127.0.0.1:80")));
        assertEquals(
                ConnectResult.REFUSED,
                DialFault.of(new ConnectException("connect(..) failed with error(-111): Connection refused")));
        assertEquals(
                ConnectResult.REFUSED,
                DialFault.of(new ConnectException("finishConnect(..) failed: Connection refused: /127.0.0.1:80")));
        assertEquals(
                ConnectResult.REFUSED,
                DialFault.of(new IOException("connect failed", new ConnectException("Connection refused"))));
    }

    @Test
    void theKernelsTimeOutIsATimeOut() {
        assertEquals(ConnectResult.TIMEOUT, DialFault.of(new ConnectException("Connection timed out: /127.0.0.1:80")));
    }

    /** varnish/hitch#213: no source port left showed as an unknown fault; it must not look like a refusal either. */
    @Test
    void noSourcePortUnreachableAndNoDescriptorAreFailures() {
        assertEquals(ConnectResult.FAILED, DialFault.of(new ConnectException("Cannot assign requested address")));
        assertEquals(ConnectResult.FAILED, DialFault.of(new NoRouteToHostException("No route to host")));
        assertEquals(ConnectResult.FAILED, DialFault.of(new IOException("Too many open files")));
        assertEquals(ConnectResult.FAILED, DialFault.of(new IOException((String) null)));
    }

    @Test
    void eachResultHasItsReason() {
        assertEquals(CloseReason.DIAL_REFUSED, DialFault.reason(ConnectResult.REFUSED));
        assertEquals(CloseReason.DIAL_TIMEOUT, DialFault.reason(ConnectResult.TIMEOUT));
        assertEquals(CloseReason.DIAL_FAILED, DialFault.reason(ConnectResult.FAILED));
    }
}
