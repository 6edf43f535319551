package dev.tidegate.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code run} as service managers say it. It is understood without the library that understands all other command lines, whose
 * loading would be half of the start. Immutable.
 *
 * @param config the file
 * @param watch whether to look after it
 * @param takeOver whether to take over from the process that runs
 */
record PlainRun(Path config, boolean watch, boolean takeOver) {
    private static final String CONFIG = "--config";
    private static final String WATCH = "--watch";

    /** What the arguments ask for; empty when they hold anything else, be it wrong or right. */
    static Optional<PlainRun> of(String... arguments) {
        if (arguments.length == 0 || !arguments[0].equals(RunCommand.NAME)) {
            return Optional.empty();
        }
        String file = null;
        boolean watch = false;
        boolean takeOver = false;
        for (int i = 1; i < arguments.length; i++) {
            if (arguments[i].equals(WATCH) && !watch) {
                watch = true;
            } else if (arguments[i].equals(RunCommand.TAKE_OVER) && !takeOver) {
                takeOver = true;
            } else if (arguments[i].equals(CONFIG) && file == null && i + 1 < arguments.length) {
                i++;
                file = arguments[i];
            } else {
                return Optional.empty();
            }
        }
        return file == null || !isPlain(file)
                ? Optional.empty()
                : Optional.of(new PlainRun(Path.of(file), watch, takeOver));
    }

    /** The same once more, for a process that is to be started as this one was. */
    List<String> arguments() {
        List<String> said = new ArrayList<>(List.of(RunCommand.NAME, CONFIG, config.toString()));
        if (watch) {
            said.add(WATCH);
        }
        if (takeOver) {
            said.add(RunCommand.TAKE_OVER);
        }
        return said;
    }

    /** Neither another option nor what the library would read as more than a word. */
    private static boolean isPlain(String file) {
        return !file.isEmpty()
                && file.chars().noneMatch(c -> c == '"' || c == '\'' || c == '$' || c == '\0')
                && file.charAt(0) != '-'
                && file.charAt(0) != '@';
    }
}
