package dev.tidegate.cli;

import dev.tidegate.admin.AdminAddress;
import dev.tidegate.config.Config;
import dev.tidegate.config.FrontendConfig;
import dev.tidegate.config.ListenAddress;
import dev.tidegate.handover.HandedSocket;
import dev.tidegate.listener.InheritedSocket;
import dev.tidegate.listener.InheritedSockets;
import dev.tidegate.systemd.ListenFds;
import dev.tidegate.telemetry.AddressText;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listening sockets that this process had before it began, and who may have them. Immutable.
 *
 * @param sockets all of them
 * @param source where they come from, in words; empty when there are none
 * @param admin those that were the admin API's in the process before
 * @param byAdmin the names that the admin API has
 * @param byFrontends the names that frontends have
 */
record Inheritance(
        InheritedSockets sockets, InheritedSockets admin, String source, Set<String> byAdmin, Set<String> byFrontends) {
    private static final Logger log = LoggerFactory.getLogger(Inheritance.class);

    private static final String UNIX = "unix:";

    /** No sockets. */
    static final Inheritance NONE =
            new Inheritance(InheritedSockets.NONE, InheritedSockets.NONE, "", Set.of(), Set.of());

    /**
     * What systemd passed.
     *
     * @param pid of this process
     * @throws IOException when the environment makes no sense, or what it says cannot be had; its message is one line
     */
    static Inheritance fromSystemd(Config config, Map<String, String> environment, long pid) throws IOException {
        List<InheritedSockets.Descriptor> passed;
        try {
            passed = ListenFds.of(environment::get, pid).sockets().stream()
                    .map(socket -> new InheritedSockets.Descriptor(socket.name(), "", socket.fd()))
                    .toList();
        } catch (ListenFds.MalformedException e) {
            throw new IOException(e.getMessage(), e);
        }
        return of(config, InheritedSockets.adopt(passed), InheritedSockets.NONE, "sockets from systemd");
    }

    /**
     * What the process before handed over.
     *
     * @throws IOException when it cannot be had; its message is one line
     */
    static Inheritance handedOver(Config config, List<HandedSocket> sockets) throws IOException {
        return of(
                config,
                adopt(sockets, socket -> !isAdmins(socket)),
                adopt(sockets, Inheritance::isAdmins),
                "sockets from the process before");
    }

    /** One from systemd is whose the configuration says now. */
    private static boolean isAdmins(HandedSocket socket) {
        return socket.user() == HandedSocket.User.ADMIN && socket.name().isEmpty();
    }

    private static InheritedSockets adopt(List<HandedSocket> sockets, Predicate<HandedSocket> wanted)
            throws IOException {
        return InheritedSockets.adopt(sockets.stream()
                .filter(wanted)
                .map(socket -> new InheritedSockets.Descriptor(socket.name(), socket.place(), socket.fd()))
                .toList());
    }

    private static Inheritance of(Config config, InheritedSockets sockets, InheritedSockets admin, String source) {
        Set<String> byFrontends = new HashSet<>();
        for (FrontendConfig frontend : config.frontends()) {
            byFrontends.addAll(names(frontend.listen()));
        }
        return new Inheritance(
                sockets,
                admin,
                sockets.isEmpty() ? "" : source,
                Set.copyOf(names(config.admin().listen())),
                Set.copyOf(byFrontends));
    }

    private static Set<String> names(List<ListenAddress> addresses) {
        return addresses.stream()
                .filter(ListenAddress.Systemd.class::isInstance)
                .map(address -> ((ListenAddress.Systemd) address).name())
                .collect(Collectors.toSet());
    }

    /** What frontends may have, now or after a reload: all but what is the admin API's. */
    InheritedSockets forFrontends() {
        return sockets.only(each -> !byAdmin.contains(each.name()));
    }

    /**
     * What the admin API has under a name.
     *
     * @throws IOException when nothing was passed under it, or something that does not serve
     */
    List<InheritedSocket> forAdmin(String name) throws IOException {
        return sockets.named("admin.listen", name);
    }

    /** The admin API's socket of that address in the process before; empty when it had none there. */
    Optional<InheritedSocket> forAdminAt(String place) {
        return admin.all().stream().filter(each -> each.place().equals(place)).findFirst();
    }

    /** Closes what the admin API had in the process before and has no more. */
    void closeUnused(List<AdminAddress> used) throws IOException {
        for (InheritedSocket each : admin.all()) {
            boolean stays = used.stream()
                    .anyMatch(address -> address instanceof AdminAddress.Passed passed && passed.fd() == each.fd());
            if (!stays) {
                each.close();
            }
        }
    }

    /**
     * Takes away the files of UNIX sockets that the admin API had in the process before and has no more. To be called when
     * that process has given them up.
     */
    void removeFilesOfUnused(List<AdminAddress> used) {
        Set<Path> stay = used.stream()
                .map(address -> address instanceof AdminAddress.Passed passed ? passed.real() : address)
                .filter(AdminAddress.Unix.class::isInstance)
                .map(address -> normal(((AdminAddress.Unix) address).path()))
                .collect(Collectors.toSet());
        for (InheritedSocket each : admin.all()) {
            if (each.place().startsWith(UNIX) && !stay.contains(normal(file(each)))) {
                try {
                    Files.deleteIfExists(file(each));
                } catch (IOException e) {
                    log.warn("the socket file of an admin address that is no more is left behind: {}", e.toString());
                }
            }
        }
    }

    private static Path file(InheritedSocket socket) {
        return Path.of(socket.place().substring(UNIX.length()));
    }

    private static Path normal(Path file) {
        return file.toAbsolutePath().normalize();
    }

    /** A line for each socket from systemd that the configuration does not name. */
    List<String> unused() {
        return sockets.all().stream()
                .filter(each ->
                        !each.name().isEmpty() && !byAdmin.contains(each.name()) && !byFrontends.contains(each.name()))
                .map(each -> "socket from systemd not used name=" + each.name() + " fd=" + each.fd()
                        + each.address()
                                .map(address -> " address=" + text(address))
                                .orElse(" which " + each.fault())
                        + ": name it in a frontend's listen as systemd:NAME, or take it out of the unit")
                .toList();
    }

    private static String text(SocketAddress address) {
        return address instanceof InetSocketAddress inet ? AddressText.of(inet) : "unix:" + address;
    }
}
