package dev.tidegate.systemd;

import io.netty.channel.epoll.Epoll;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the service manager how the process is: the protocol of sd_notify(3), over the socket that {@code NOTIFY_SOCKET}
 * names. Where there is none it does nothing, at no cost.
 *
 * <p>Any thread. Nobody waits: messages are sent, in their order, on {@code tidegate-notify}; what cannot be sent is kept and
 * tried again, with one line in the log for each time that this begins and ends.
 */
public final class Notifier implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Notifier.class);
    private static final String SOCKET = "NOTIFY_SOCKET";
    private static final String TOOL = "systemd-notify";

    /** The kernel's limit on an address, in bytes, its leading zero included. */
    private static final int LONGEST_ADDRESS = 107;

    private static final Duration FIRST_RETRY = Duration.ofMillis(100);
    private static final Duration LAST_RETRY = Duration.ofSeconds(2);
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final ScheduledExecutorService thread; // null: nobody is to be told
    private final Supplier<Optional<Wire>> wires;
    private Outbox outbox; // the thread's; null before the first message
    private boolean mute; // the thread's
    private boolean retrying; // the thread's
    private Duration retry = FIRST_RETRY; // the thread's

    private Notifier(ScheduledExecutorService thread, Supplier<Optional<Wire>> wires) {
        this.thread = thread;
        this.wires = wires;
    }

    /**
     * A notifier for the process with that environment.
     *
     * @param environment looks up a variable; null for one that is not set
     */
    public static Notifier of(UnaryOperator<String> environment) {
        String address = environment.apply(SOCKET);
        if (address == null || address.isEmpty()) {
            return new Notifier(null, Optional::empty);
        }
        String fault = fault(address);
        if (fault != null) {
            log.warn("{}: \"{}\" {}; systemd is told nothing", SOCKET, address, fault);
            return new Notifier(null, Optional::empty);
        }
        Optional<Path> tool = tool(environment.apply("PATH"));
        return over(() -> wire(address, Epoll.unavailabilityCause(), tool));
    }

    /** One whose messages go that way. The wire is made by the first of them. */
    static Notifier over(Supplier<Optional<Wire>> wires) {
        return new Notifier(
                Executors.newSingleThreadScheduledExecutor(task -> {
                    Thread thread = new Thread(task, "tidegate-notify");
                    thread.setDaemon(true);
                    return thread;
                }),
                wires);
    }

    /** What is wrong with an address; null when nothing is. */
    private static String fault(String address) {
        if (address.length() < 2 || (address.charAt(0) != '/' && address.charAt(0) != '@')) {
            return "is neither a path nor @ and a name";
        }
        return address.getBytes(StandardCharsets.UTF_8).length > LONGEST_ADDRESS
                ? "is longer than " + LONGEST_ADDRESS + " bytes"
                : null;
    }

    private static Optional<Path> tool(String path) {
        return Arrays.stream((path == null ? "" : path).split(":", -1))
                .filter(directory -> directory.startsWith("/"))
                .map(directory -> Path.of(directory, TOOL))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * The way that can be had.
     *
     * @param missing why Netty's native library cannot be loaded; null when it can
     * @param tool where systemd-notify is
     */
    static Optional<Wire> wire(String address, Throwable missing, Optional<Path> tool) {
        if (missing == null) {
            return Optional.of(new DatagramWire(address));
        }
        String why = innermost(missing);
        if (tool.isEmpty()) {
            log.warn(
                    "systemd is told nothing, and a unit with Type=notify will not become active: Netty's native library"
                            + " cannot be loaded ({}), and there is no {} on the PATH; let java.io.tmpdir be a directory"
                            + " without noexec",
                    why,
                    TOOL);
            return Optional.empty();
        }
        log.warn(
                "systemd is told by {}, which needs NotifyAccess=all in the unit: Netty's native library cannot be loaded ({});"
                        + " let java.io.tmpdir be a directory without noexec",
                tool.get(),
                why);
        return Optional.of(new ToolWire(tool.get().toString(), ToolWire.PATIENCE));
    }

    private static String innermost(Throwable fault) {
        Throwable root = fault;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return oneLine(String.valueOf(root.getMessage()));
    }

    /** Whether there is anybody to tell. */
    public boolean active() {
        return thread != null;
    }

    /**
     * The process serves: at the end of its start, and of every reload.
     *
     * @param status what it does, in one line
     */
    public void ready(String status) {
        send(Outbox.Kind.STATE, "READY=1\n" + line(status));
    }

    /**
     * The same, and which process it is: for a manager that has taken another for the service's main one so far.
     *
     * @param status what it does, in one line
     * @param mainPid of the process that serves
     */
    public void ready(String status, long mainPid) {
        send(Outbox.Kind.STATE, "READY=1\nMAINPID=" + mainPid + "\n" + line(status));
    }

    /**
     * The process has begun to read its configuration again. {@link #ready} must follow, whatever comes of it.
     *
     * @param status what it does, in one line
     * @param monotonicMicros when it began, by {@code CLOCK_MONOTONIC}
     */
    public void reloading(String status, long monotonicMicros) {
        send(Outbox.Kind.STATE, "RELOADING=1\nMONOTONIC_USEC=" + monotonicMicros + "\n" + line(status));
    }

    /**
     * The process is on its way out.
     *
     * @param status what it does, in one line
     */
    public void stopping(String status) {
        send(Outbox.Kind.STATE, "STOPPING=1\n" + line(status));
    }

    /** What the process does, in one line. */
    public void status(String text) {
        send(Outbox.Kind.STATUS, line(text));
    }

    /** The process lives. */
    public void watchdog() {
        send(Outbox.Kind.WATCHDOG, "WATCHDOG=1");
    }

    /** The start or the stop under way is to be given that much time more, from now on. */
    public void extendTimeout(Duration more) {
        send(Outbox.Kind.EXTENSION, "EXTEND_TIMEOUT_USEC=" + TimeUnit.NANOSECONDS.toMicros(more.toNanos()));
    }

    /** Another process is the service's main one from now on. */
    public void mainPid(long pid) {
        send(Outbox.Kind.STATE, "MAINPID=" + pid);
    }

    private static String line(String status) {
        return "STATUS=" + oneLine(status);
    }

    private static String oneLine(String text) {
        return text.replaceAll("[\\r\\n]+", " ");
    }

    private void send(Outbox.Kind kind, String message) {
        if (thread == null) {
            return;
        }
        try {
            thread.execute(() -> sendNow(kind, message));
        } catch (RejectedExecutionException closed) {
            log.debug("not told, since the notifier is closed: {}", message);
        }
    }

    private void sendNow(Outbox.Kind kind, String message) {
        if (outbox == null && !mute) {
            Optional<Wire> wire = wires.get();
            wire.ifPresentOrElse(found -> outbox = new Outbox(found), () -> mute = true);
        }
        if (mute) {
            return;
        }
        outbox.add(kind, message);
        if (!retrying) {
            sendWaiting();
        }
    }

    /** One try at a time: what comes while one is due waits for that. */
    private void sendWaiting() {
        if (mute) {
            return;
        }
        retrying = !outbox.send();
        if (!retrying) {
            retry = FIRST_RETRY;
            return;
        }
        try {
            thread.schedule(this::sendWaiting, retry.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closed) {
            log.debug("no more tries: the notifier is closed");
        }
        retry = retry.multipliedBy(2).compareTo(LAST_RETRY) < 0 ? retry.multipliedBy(2) : LAST_RETRY;
    }

    /** Sends what can still be sent, within a second, and sends no more after that. */
    @Override
    public void close() {
        if (thread == null) {
            return;
        }
        try {
            thread.execute(this::sayLastWords);
            thread.shutdown();
            if (!thread.awaitTermination(LAST_WORDS.toMillis(), TimeUnit.MILLISECONDS)) {
                thread.shutdownNow();
            }
        } catch (RejectedExecutionException closedBefore) {
            log.debug("closed already");
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void sayLastWords() {
        if (outbox != null) {
            outbox.send();
            outbox.close();
        }
        mute = true;
    }
}
