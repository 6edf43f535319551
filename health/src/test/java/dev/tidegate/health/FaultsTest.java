package dev.tidegate.health;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.ChannelException;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FaultsTest {
    static Stream<Arguments> faults() {
        return Stream.of(
                fault(new ConnectException("Connection refused: /10.0.0.1:80"), Word.FAIL, "connection refused"),
                fault(
                        new ConnectException(
                                "finishConnect(..) failed with error(-111): Connection refused: /[::1]:80"),
                        Word.FAIL,
                        "connection refused"),
                fault(new NoRouteToHostException("No route to host: /10.0.0.1:80"), Word.FAIL, "no route to host"),
                fault(new SocketException("Network is unreachable"), Word.FAIL, "network is unreachable"),
                fault(
                        new IOException("recvAddress(..) failed with error(-104): Connection reset by peer"),
                        Word.FAIL,
                        "connection reset"),
                fault(new ClosedChannelException(), Word.FAIL, "ClosedChannelException"),
                fault(new IOException("first\nsecond"), Word.FAIL, "first"),
                fault(
                        new ChannelException("Failed to open a socket.", new SocketException("Too many open files")),
                        Word.VOID,
                        "too many open files"),
                fault(
                        new ConnectException("connect(..) failed with error(-99): Cannot assign requested address"),
                        Word.VOID,
                        "cannot assign requested address"),
                fault(new BindException("Address already in use"), Word.VOID, "address already in use"),
                fault(
                        new ChannelException(new OutOfMemoryError("direct memory")),
                        Word.VOID,
                        "the check itself failed: java.lang.OutOfMemoryError: direct memory"),
                fault(
                        new IOException(new NoClassDefFoundError("a/b/C")),
                        Word.VOID,
                        "the check itself failed: java.lang.NoClassDefFoundError: a/b/C"));
    }

    private static Arguments fault(Throwable fault, Word word, String detail) {
        return Arguments.of(fault, new Finding(word, detail));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void saysInPlainWordsWhatIsWrongAndWhoIsToBlame(Throwable fault, Finding found) {
        assertEquals(found, Finding.ofFault(fault));
    }
}
