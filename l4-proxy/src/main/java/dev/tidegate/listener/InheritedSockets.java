package dev.tidegate.listener;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * All sockets that this process has from before it began: from systemd, by name, and from the process before it, by place.
 * Those from systemd belong to the process for its life. Immutable.
 */
public final class InheritedSockets {
    /** None. */
    public static final InheritedSockets NONE = new InheritedSockets(List.of());

    private final List<InheritedSocket> all;

    private InheritedSockets(List<InheritedSocket> all) {
        this.all = List.copyOf(all);
    }

    /**
     * A descriptor as it came.
     *
     * @param name what systemd calls it; empty when it does not come from there
     * @param place what it was known by in the process before; empty when it comes from systemd itself
     * @param fd its number
     */
    public record Descriptor(String name, String place, int fd) {}

    /**
     * Takes descriptors over: looks what they are, and sets them non-blocking. What is no listening stream socket is kept
     * with what it is, for whoever wants to use it. Needs the native part of epoll.
     *
     * @throws IOException when the system gives no sockets to do it with
     */
    public static InheritedSockets adopt(List<Descriptor> descriptors) throws IOException {
        if (descriptors.isEmpty()) {
            return NONE;
        }
        if (!Epoll.isAvailable()) {
            throw new IOException("sockets that are open already need epoll, which is not available here: "
                    + Epoll.unavailabilityCause().getMessage());
        }
        List<InheritedSocket> all = new ArrayList<>();
        try (SelfPost post = SelfPost.open()) {
            for (Descriptor each : descriptors) {
                InheritedSocket found = InheritedSocket.of(each.name(), each.place(), each.fd());
                if (found.address().isPresent()) {
                    int own = post.nonBlocking(each.fd());
                    new Socket(each.fd()).close();
                    found = InheritedSocket.of(each.name(), each.place(), own);
                }
                all.add(found);
            }
        }
        return new InheritedSockets(all);
    }

    /** All of them. */
    public List<InheritedSocket> all() {
        return all;
    }

    /** Whether there is none. */
    public boolean isEmpty() {
        return all.isEmpty();
    }

    /** Those that match. */
    public InheritedSockets only(Predicate<InheritedSocket> wanted) {
        return new InheritedSockets(all.stream().filter(wanted).toList());
    }

    /**
     * What systemd passed under that name.
     *
     * @param user who wants it, for the message
     * @return one or more, all of them listening stream sockets
     * @throws IOException when there is none, or one that does not serve; its message is one line for the operator
     */
    public List<InheritedSocket> named(String user, String name) throws IOException {
        List<InheritedSocket> named =
                all.stream().filter(each -> each.name().equals(name)).toList();
        if (named.isEmpty()) {
            throw new IOException(user + ": systemd:" + name + ": no socket of that name was passed to this process; "
                    + passed() + "; name it by FileDescriptorName= in the socket unit, and start the service again");
        }
        for (InheritedSocket each : named) {
            if (each.address().isEmpty()) {
                throw new IOException(user + ": systemd:" + name + ": descriptor " + each.fd() + " " + each.fault());
            }
        }
        return named;
    }

    private String passed() {
        String names = all.stream()
                .map(InheritedSocket::name)
                .filter(name -> !name.isEmpty())
                .distinct()
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "none was" : "passed were: " + names;
    }
}
