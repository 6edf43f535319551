package dev.tidegate.cli;

import java.io.IOException;

/** What a key of `top` means. */
enum TopKey {
    QUIT,
    UP,
    DOWN,
    PAGE_UP,
    PAGE_DOWN,
    HOME,
    END,
    SORT,
    REVERSE,
    VIEW,
    PAUSE,
    HELP,
    NONE;

    private static final int ESCAPE = 27;

    /** Where characters come from. */
    interface Keyboard {
        /** The next character; below 0 when there is none for now ({@link #NOTHING_YET}), or never again */
        int next() throws IOException;
    }

    /** No character came in the time that is waited for one. */
    static final int NOTHING_YET = -2;

    /** Reads one key; several characters for an arrow. */
    static TopKey read(Keyboard keyboard) throws IOException {
        int c = keyboard.next();
        return switch (c) {
            case NOTHING_YET -> NONE;
            case -1, 'q', 'Q', 3, 4 -> QUIT; // the terminal has gone; ctrl-C and ctrl-D
            case 'k' -> UP;
            case 'j' -> DOWN;
            case 'g' -> HOME;
            case 'G' -> END;
            case 's' -> SORT;
            case 'r' -> REVERSE;
            case 'f', '\t' -> VIEW;
            case ' ' -> PAUSE;
            case '?', 'h' -> HELP;
            case ESCAPE -> escaped(keyboard);
            default -> NONE;
        };
    }

    private static TopKey escaped(Keyboard keyboard) throws IOException {
        int opening = keyboard.next();
        if (opening != '[' && opening != 'O') {
            return NONE;
        }
        int c = keyboard.next();
        TopKey key =
                switch (c) {
                    case 'A' -> UP;
                    case 'B' -> DOWN;
                    case 'H', '1' -> HOME;
                    case 'F', '4' -> END;
                    case '5' -> PAGE_UP;
                    case '6' -> PAGE_DOWN;
                    default -> NONE;
                };
        while ((c >= '0' && c <= '9') || c == ';') {
            c = keyboard.next(); // up to the letter or tilde that ends it
        }
        return key;
    }
}
