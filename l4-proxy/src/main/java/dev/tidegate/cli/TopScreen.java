package dev.tidegate.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.NonBlockingReader;

/**
 * The terminal that {@code top} draws on: its other screen, without echo, until {@link #close} gives it back as it was.
 * Signals to end are taken as a key to quit: JLine's own hook at the end of the JVM gives back the echo, but not the screen,
 * and pulls the terminal away from under whoever draws. For one thread.
 */
final class TopScreen implements AutoCloseable {
    private static final int KEY_MILLIS = 100;

    private final Terminal terminal;
    private final Attributes before;
    private final Display display;
    private final boolean colour;
    private volatile boolean interrupted; // writer: the thread of signals
    private volatile int exit = Exit.OK; // writer: the thread of signals
    private Size drawn; // null before the first page

    private TopScreen(Terminal terminal, boolean colour) {
        this.terminal = terminal;
        this.colour = colour;
        this.display = new Display(terminal, true);
        this.before = terminal.enterRawMode();
    }

    /**
     * Takes the terminal.
     *
     * @param colour whether to use colours
     * @throws IOException when there is none
     */
    static TopScreen open(boolean colour) throws IOException {
        Terminal terminal;
        try {
            terminal = TerminalBuilder.builder()
                    .name("tidegate")
                    .system(true)
                    .dumb(false)
                    .build();
        } catch (IllegalStateException e) {
            throw new IOException(e.getMessage(), e);
        }
        TopScreen screen = new TopScreen(terminal, colour);
        terminal.handle(Terminal.Signal.INT, signal -> screen.interrupted = true);
        Signals.handle("TERM", () -> screen.endedBy(15));
        Signals.handle("HUP", () -> screen.endedBy(1));
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        terminal.flush();
        return screen;
    }

    /** Draws what differs from what is there; the page has the size that the terminal has now. */
    void draw(Optional<TopSample.Pair> pair, TopState state, String trouble) {
        Size size = terminal.getSize();
        if (!size.equals(drawn)) {
            display.clear();
            display.resize(size);
            drawn = size;
        }
        boolean unicode = StandardCharsets.UTF_8.equals(terminal.encoding());
        TopPage page = new TopPage(size.getColumns(), size.getRows(), unicode, colour);
        display.update(pair.isPresent() ? page.lines(pair.get(), state, trouble) : page.empty(trouble), 0);
    }

    /** Waits a moment for a key. */
    TopKey key() throws IOException {
        NonBlockingReader reader = terminal.reader();
        TopKey key = TopKey.read(() -> reader.read(KEY_MILLIS));
        return interrupted ? TopKey.QUIT : key;
    }

    private void endedBy(int signal) {
        exit = 128 + signal; // as shells have it
        interrupted = true;
    }

    /** The exit code, once a key said to quit. */
    int exit() {
        return exit;
    }

    @Override
    public void close() throws IOException {
        terminal.puts(Capability.cursor_normal);
        terminal.puts(Capability.exit_ca_mode);
        terminal.flush();
        terminal.setAttributes(before);
        terminal.close();
    }
}
