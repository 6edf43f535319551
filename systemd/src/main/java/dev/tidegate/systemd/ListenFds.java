package dev.tidegate.systemd;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The sockets that systemd has passed to this process, by its protocol of environment variables: {@code LISTEN_FDS} of
 * them, from descriptor 3 on, named in {@code LISTEN_FDNAMES}, for the process {@code LISTEN_PID}. See
 * sd_listen_fds(3). Whether a descriptor is open, and what it is, is not looked at.
 *
 * <p>Immutable.
 *
 * @param sockets in the order of their descriptors; empty when none were passed, or to another process
 */
public record ListenFds(List<Passed> sockets) {
    /** What {@code LISTEN_FDS}, {@code LISTEN_FDNAMES} and {@code LISTEN_PID} say; for whoever starts another process. */
    public static final Set<String> VARIABLES = Set.of("LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID", "LISTEN_PIDFDID");

    /** The first descriptor that is passed. */
    public static final int FIRST = 3;

    /** What systemd's own library calls a descriptor that came without names. */
    public static final String UNNAMED = "unknown";

    /** More than any unit has; what is above is no count. */
    private static final int MOST = 65_536;

    /** The longest name that systemd has for a descriptor. */
    private static final int NAME_MAX = 255;

    /**
     * A descriptor and its name, which several may share.
     *
     * @param name {@code FileDescriptorName=} of the socket unit, or the unit's own name
     * @param fd the number of the descriptor
     */
    public record Passed(String name, int fd) {}

    /** The environment says something that systemd never does. */
    public static final class MalformedException extends Exception {
        private static final long serialVersionUID = 1;

        MalformedException(String message) {
            super(message);
        }
    }

    /** Copies the list. */
    public ListenFds {
        sockets = List.copyOf(sockets);
    }

    /**
     * Reads what was passed.
     *
     * @param environment looks up a variable; null for one that is not set
     * @param pid of this process
     * @throws MalformedException when a variable makes no sense; its message is one plain line
     */
    public static ListenFds of(UnaryOperator<String> environment, long pid) throws MalformedException {
        String count = environment.apply("LISTEN_FDS");
        String receiver = environment.apply("LISTEN_PID");
        if (count == null || receiver == null) {
            return new ListenFds(List.of());
        }
        if (number("LISTEN_PID", receiver, Long.MAX_VALUE) != pid) {
            return new ListenFds(List.of()); // inherited from whoever it was meant for
        }
        int sockets = (int) number("LISTEN_FDS", count, MOST);
        return new ListenFds(passed(sockets, environment.apply("LISTEN_FDNAMES")));
    }

    private static List<Passed> passed(int count, String names) throws MalformedException {
        String[] named = names == null ? new String[0] : names.split(":", -1);
        if (names != null && named.length != count && !(count == 0 && names.isEmpty())) {
            throw new MalformedException(
                    "LISTEN_FDNAMES=" + quote(names) + " has " + named.length + " names, but LISTEN_FDS says " + count
                            + " sockets; one name each, with ':' between, was expected");
        }
        List<Passed> passed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            passed.add(new Passed(names == null ? UNNAMED : name(named[i]), FIRST + i));
        }
        return passed;
    }

    private static String name(String name) throws MalformedException {
        if (name.length() > NAME_MAX || name.chars().anyMatch(c -> c < ' ' || c >= 127)) {
            throw new MalformedException("LISTEN_FDNAMES: " + quote(name) + " is no name of a socket; at most "
                    + NAME_MAX + " printable ASCII characters were expected");
        }
        return name;
    }

    private static long number(String variable, String text, long most) throws MalformedException {
        try {
            long number = Long.parseLong(text);
            if (number >= 0 && number <= most && !text.startsWith("+")) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw malformed(variable, text);
        }
        throw malformed(variable, text);
    }

    private static MalformedException malformed(String variable, String text) {
        return new MalformedException(variable + "=" + quote(text)
                + " is no number that systemd would give; unset it, or start this process by a unit with a socket");
    }

    /** As the environment has it, but on one line. */
    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> quoted.append(c < ' ' || c == 127 ? '?' : (char) c));
        return quoted.append('"').toString();
    }
}
