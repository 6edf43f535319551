package dev.tidegate.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A row that runs on a JVM and Netty: which program, on which transport, and what is different about it. Its name is these
 * three. Immutable.
 *
 * @param program the bare forwarder or Tidegate
 * @param variant {@link Variant#PLAIN}, but for questions of their own
 */
record NettySubject(Program program, Transport transport, Variant variant) {
    /** What forwards. */
    enum Program {
        BARE("bare-"),
        TIDEGATE("tidegate-");

        private final String prefix;

        Program(String prefix) {
            this.prefix = prefix;
        }
    }

    /** What is different from how it comes. */
    enum Variant {
        PLAIN(""),
        /** A Tidegate that watches no protocol. */
        UNWATCHED("-tcp"),
        /**
         * A bare forwarder on io_uring that reads by Netty's multishot receive, which goes on while reads are paused: what is
         * ahead of a slow reader piles up without bound.
         */
        MULTISHOT("-multishot");

        private final String suffix;

        Variant(String suffix) {
            this.suffix = suffix;
        }
    }

    /** Netty looks at it once, when its io_uring is loaded; unless told otherwise it takes multishot where the kernel has it. */
    private static final String MULTISHOT_RECEIVE = "io.netty.iouring.recvMultiShotEnabled";

    /** All of them, in the order of the tables. */
    static List<NettySubject> all() {
        List<NettySubject> all = new ArrayList<>();
        for (Transport transport : Transport.values()) {
            all.add(bare(transport));
            if (transport == Transport.IO_URING) {
                all.add(new NettySubject(Program.BARE, transport, Variant.MULTISHOT));
            }
        }
        for (Variant variant : List.of(Variant.PLAIN, Variant.UNWATCHED)) {
            for (Transport transport : Transport.values()) {
                all.add(new NettySubject(Program.TIDEGATE, transport, variant));
            }
        }
        return all;
    }

    static NettySubject bare(Transport transport) {
        return new NettySubject(Program.BARE, transport, Variant.PLAIN);
    }

    static NettySubject tidegate(Transport transport) {
        return new NettySubject(Program.TIDEGATE, transport, Variant.PLAIN);
    }

    /** The one of that name; empty where it names another proxy, or none. */
    static Optional<NettySubject> named(String name) {
        return all().stream().filter(subject -> subject.name().equals(name)).findFirst();
    }

    static boolean isTidegate(String name) {
        return named(name)
                .filter(subject -> subject.program == Program.TIDEGATE)
                .isPresent();
    }

    static boolean isBare(String name) {
        return named(name).filter(NettySubject::isBare).isPresent();
    }

    String name() {
        return program.prefix + transport.word() + variant.suffix;
    }

    boolean isBare() {
        return program == Program.BARE;
    }

    boolean isWatched() {
        return variant != Variant.UNWATCHED;
    }

    /** Whether it answers a question of its own, so that it runs only where it is asked for by name. */
    boolean isOnlyByName() {
        return variant != Variant.PLAIN;
    }

    /**
     * What its JVM is told besides the flags of all. A bare forwarder on io_uring reads once for each time that it wants to, as
     * Tidegate has it by itself, so that back-pressure holds in both.
     */
    List<String> jvmFlags() {
        return isBare() && transport == Transport.IO_URING
                ? List.of("-D" + MULTISHOT_RECEIVE + "=" + (variant == Variant.MULTISHOT))
                : List.of();
    }
}
