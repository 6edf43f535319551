package dev.tidegate.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The kernel's table of TCP sockets ({@code /proc/net/tcp} and {@code tcp6}).
 *
 * <pre>{@code
 * assertEquals(0, Sockets.count(CLOSE_WAIT, at(address)));
 * }</pre>
 *
 * <p>An IPv4 address on an IPv6 socket reads as IPv4. A socket in TIME_WAIT belongs to no process.
 */
public final class Sockets {
    private Sockets() {}

    /** The kernel's states, in its numbering from 1. */
    public enum State {
        ESTABLISHED,
        SYN_SENT,
        SYN_RECV,
        FIN_WAIT1,
        FIN_WAIT2,
        TIME_WAIT,
        CLOSE,
        CLOSE_WAIT,
        LAST_ACK,
        LISTEN,
        CLOSING,
        NEW_SYN_RECV;

        private static final List<State> ALL = List.of(values());

        static State numbered(int number) {
            return ALL.get(number - 1);
        }
    }

    /**
     * One socket.
     *
     * @param sendQueueBytes sent and not yet acknowledged; for a listener its backlog
     * @param receiveQueueBytes received and not yet read; for a listener the connections that wait for accept
     * @param inode 0 when no process has it
     */
    public record Entry(
            InetSocketAddress local,
            InetSocketAddress remote,
            State state,
            long sendQueueBytes,
            long receiveQueueBytes,
            long inode) {}

    /** All of this network namespace. */
    public static List<Entry> all() {
        return read(line -> true);
    }

    /** Only lines that are wanted are parsed: after a test with many connections thousands stand there in TIME_WAIT. */
    private static List<Entry> read(Predicate<String> wanted) {
        List<Entry> entries = new ArrayList<>();
        for (String table : List.of("tcp", "tcp6")) {
            Path path = Path.of("/proc/net", table);
            if (Files.exists(path)) {
                entries.addAll(parseTable(readTable(path), wanted));
            }
        }
        return entries;
    }

    /**
     * Each socket once, as it was seen last: the kernel hands the table out page by page, and what comes and goes meanwhile moves
     * others, so that it lists them again.
     */
    static Collection<Entry> parseTable(String table, Predicate<String> wanted) {
        Map<List<Object>, Entry> once = new LinkedHashMap<>();
        table.lines()
                .skip(1)
                .filter(wanted)
                .map(Sockets::parse)
                .forEach(entry -> once.put(List.of(entry.local, entry.remote, entry.inode), entry));
        return once.values();
    }

    /** Those that this process has open. */
    public static List<Entry> ofThisProcess() {
        return ofProcess(ProcessHandle.current().pid());
    }

    /** Those that process {@code pid} has open. */
    public static List<Entry> ofProcess(long pid) {
        Set<Long> inodes = Fds.socketInodes(pid);
        return all().stream().filter(entry -> inodes.contains(entry.inode)).toList();
    }

    /** How many are in {@code state} and match. */
    public static long count(State state, Predicate<Entry> matches) {
        String printed = HexFormat.of().withUpperCase().toHexDigits((byte) (state.ordinal() + 1));
        return read(line -> line.startsWith(printed, stateAt(line))).stream()
                .filter(matches)
                .count();
    }

    /** The connection between two addresses, as seen by {@code local}. */
    public static Optional<Entry> find(InetSocketAddress local, InetSocketAddress remote) {
        String port = HexFormat.of().withUpperCase().toHexDigits((short) local.getPort());
        return read(line -> line.startsWith(port, localPortAt(line))).stream()
                .filter(entry -> entry.local.equals(local) && entry.remote.equals(remote))
                .findFirst();
    }

    /** How many connections wait for accept at the listener of that address; none where nobody listens. */
    static long waitingForAccept(InetSocketAddress listener) {
        return read(line -> line.startsWith("0A", stateAt(line))).stream()
                .filter(entry -> entry.local.equals(listener))
                .mapToLong(Entry::receiveQueueBytes)
                .sum();
    }

    /** Matches sockets whose own address it is. By its port alone they could be another process's, on another address. */
    public static Predicate<Entry> at(InetSocketAddress address) {
        return entry -> entry.local.equals(address);
    }

    /** Matches sockets whose other side's address it is. */
    public static Predicate<Entry> towards(InetSocketAddress address) {
        return entry -> entry.remote.equals(address);
    }

    private static String readTable(Path path) {
        try {
            return Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path, e);
        }
    }

    /** Where in a line of the table the own port is, in four digits. */
    private static int localPortAt(String line) {
        return line.indexOf(':', line.indexOf(':') + 1) + 1;
    }

    /** Where in a line of the table the state is, in two digits. */
    private static int stateAt(String line) {
        return line.indexOf(':', localPortAt(line)) + 6;
    }

    /** {@code sl local rem st tx:rx tr:tm retrnsmt uid timeout inode …}. */
    static Entry parse(String line) {
        String[] fields = line.strip().split("\\s+", -1);
        String[] queues = fields[4].split(":", -1);
        return new Entry(
                address(fields[1]),
                address(fields[2]),
                State.numbered(Integer.parseInt(fields[3], 16)),
                Long.parseLong(queues[0], 16),
                Long.parseLong(queues[1], 16),
                Long.parseLong(fields[9]));
    }

    /** The address is printed as 32-bit words in the machine's byte order. */
    private static InetSocketAddress address(String field) {
        String[] parts = field.split(":", -1);
        ByteBuffer printed = ByteBuffer.wrap(HexFormat.of().parseHex(parts[0]));
        ByteBuffer bytes = ByteBuffer.allocate(printed.capacity()).order(ByteOrder.nativeOrder());
        while (printed.hasRemaining()) {
            bytes.putInt(printed.getInt());
        }
        try {
            return new InetSocketAddress(InetAddress.getByAddress(bytes.array()), Integer.parseInt(parts[1], 16));
        } catch (IOException e) {
            throw new UncheckedIOException("not an address of /proc/net/tcp: " + field, e);
        }
    }
}
