package dev.tidegate.cli;

import dev.tidegate.admin.command.Command;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/** The words of an enum as they are written on the command line, for completion. Immutable. */
abstract class LowerCase implements Iterable<String> {
    private final List<String> words;

    private LowerCase(String... words) {
        this.words = List.of(words);
    }

    @Override
    public final Iterator<String> iterator() {
        return words.iterator();
    }

    /** How a drain treats connections. */
    static final class DrainModes extends LowerCase {
        DrainModes() {
            super(words(Command.DrainMode.values()));
        }
    }

    /** What becomes of the connections of what is removed. */
    static final class RemovePolicies extends LowerCase {
        RemovePolicies() {
            super(words(Command.RemovePolicy.values()));
        }
    }

    /** How much is logged. */
    static final class LogLevels extends LowerCase {
        LogLevels() {
            super(words(Command.LogLevel.values()));
        }
    }

    private static String[] words(Enum<?>[] values) {
        return Arrays.stream(values)
                .map(value -> value.name().toLowerCase(Locale.ROOT))
                .toArray(String[]::new);
    }
}
