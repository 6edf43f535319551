package dev.tidegate.cli;

import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a constant of an enum as it is written on the command line, in any case. Immutable.
 *
 * @param <E> the enum
 */
final class WordConverter<E extends Enum<E>> implements ITypeConverter<E> {
    private final List<E> constants;

    WordConverter(Class<E> type) {
        this.constants = List.of(type.getEnumConstants());
    }

    @Override
    public E convert(String text) {
        return constants.stream()
                .filter(each -> word(each).equals(text.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException("\"" + text + "\" is not known; write one of "
                        + String.join(
                                ", ",
                                constants.stream().map(WordConverter::word).toList())));
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
