package dev.tidegate.health;

import java.util.List;
import java.util.Locale;

/** What failures of sockets mean, and whose they are. Pure. */
final class Faults {
    /** As the kernel words them, in lower case; Netty and the JDK carry these words in their messages. */
    private static final List<Known> KNOWN = List.of(
            new Known("connection refused", false, "connection refused"),
            new Known("no route to host", false, "no route to host"),
            new Known("network is unreachable", false, "network is unreachable"),
            new Known("connection timed out", false, "no answer to the connect, the system gave up"),
            new Known("connection reset", false, "connection reset"),
            new Known("broken pipe", false, "connection reset"),
            new Known("too many open files", true, "too many open files"),
            new Known("cannot assign requested address", true, "cannot assign requested address"),
            new Known("address already in use", true, "address already in use"),
            new Known("no buffer space available", true, "no buffer space available"),
            new Known("cannot allocate memory", true, "cannot allocate memory"));

    private record Known(String phrase, boolean ours, String words) {}

    private Faults() {}

    /** The same of what is broken here. */
    static String ownWords(Throwable fault) {
        return "the check itself failed: " + firstLine(fault.toString());
    }

    /** For a person, in one line. */
    static String words(Throwable fault) {
        Known known = known(fault);
        if (known != null) {
            return known.words;
        }
        Throwable broken = causeOf(fault, Error.class);
        if (broken != null) {
            return ownWords(broken);
        }
        Throwable root = fault;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        String message = root.getMessage();
        return message == null || message.isBlank() ? root.getClass().getSimpleName() : firstLine(message);
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse(text);
    }

    /** Whether this machine lacks something or this program is broken, so that the target is not to blame. */
    static boolean isOurs(Throwable fault) {
        Known known = known(fault);
        return known == null
                ? causeOf(fault, Error.class) != null || causeOf(fault, OtherFamilyException.class) != null
                : known.ours;
    }

    private static Known known(Throwable fault) {
        for (Throwable at = fault; at != null; at = at.getCause()) {
            String message = String.valueOf(at.getMessage()).toLowerCase(Locale.ROOT);
            for (Known known : KNOWN) {
                if (message.contains(known.phrase)) {
                    return known;
                }
            }
        }
        return null;
    }

    private static Throwable causeOf(Throwable fault, Class<? extends Throwable> type) {
        for (Throwable at = fault; at != null; at = at.getCause()) {
            if (type.isInstance(at)) {
                return at;
            }
        }
        return null;
    }
}
