package dev.tidegate.handover;

import dev.tidegate.handover.HandedSocket.User;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What the two processes say, in lines of text:
 *
 * <pre>
 *   next      TIDEGATE-HANDOVER 1
 *   running   SOCKETS 1 N frontend&amp;NAME&amp;PLACE admin&amp;NAME&amp;PLACE ...     or REFUSED why
 *   next      SEND
 *   running   N descriptors
 *   next      READY
 *   running   TAKEN                                                   or REFUSED why
 * </pre>
 *
 * <p>An end before READY, by either, leaves all as it was. The first line is the same in every version, so that one that is
 * not known can be refused in words. Stateless.
 */
final class Wire {
    static final int VERSION = 1;
    static final String HELLO = "TIDEGATE-HANDOVER ";
    static final String SOCKETS = "SOCKETS ";
    static final String REFUSED = "REFUSED ";
    static final String SEND = "SEND";
    static final String READY = "READY";
    static final String TAKEN = "TAKEN";

    /** The longest line: more sockets than a process has. */
    static final int LINE_MAX = 1 << 20;

    private Wire() {}

    static String hello() {
        return HELLO + VERSION;
    }

    static String sockets(List<HandedSocket> sockets) {
        StringBuilder line =
                new StringBuilder(SOCKETS).append(VERSION).append(' ').append(sockets.size());
        for (HandedSocket socket : sockets) {
            line.append(' ')
                    .append(socket.user().name().toLowerCase(Locale.ROOT))
                    .append('&')
                    .append(encoded(socket.name()))
                    .append('&')
                    .append(encoded(socket.place()));
        }
        return line.toString();
    }

    /**
     * The sockets that a line announces, without descriptors yet.
     *
     * @throws IllegalArgumentException when it is no such line; the message says so
     */
    static List<HandedSocket> announced(String line) {
        String[] words = line.split(" ", -1);
        if (words.length < 3
                || !words[1].equals(String.valueOf(VERSION))
                || !words[2].equals("" + (words.length - 3))) {
            throw new IllegalArgumentException(
                    "the running process says \"" + line.lines().findFirst().orElse("") + "\", which version " + VERSION
                            + " of the hand-over does not know");
        }
        List<HandedSocket> sockets = new ArrayList<>();
        for (int i = 3; i < words.length; i++) {
            String[] parts = words[i].split("&", -1);
            sockets.add(new HandedSocket(
                    User.valueOf(parts[0].toUpperCase(Locale.ROOT)), decoded(parts[1]), decoded(parts[2]), -1));
        }
        return sockets;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
