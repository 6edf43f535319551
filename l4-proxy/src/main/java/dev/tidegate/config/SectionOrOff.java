package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * A group of keys, or {@code off} for none of what they are about. Immutable.
 *
 * @param section the keys
 * @param hint what may stand in their place, for problems
 */
record SectionOrOff(Section section, String hint) implements ValueType<Optional<Values>> {
    private static final String OFF = "off";

    /** All keys may be left out, as in {@code {}}. */
    SectionOrOff(Section section) {
        this(section, ", {} for their defaults, or off");
    }

    /** One key or more must be there. */
    static SectionOrOff ofSome(Section section) {
        return new SectionOrOff(section, ", or off");
    }

    @Override
    public Optional<Optional<Values>> read(Node node, KeyPath path, Reading reading) {
        boolean word = node instanceof Node.Scalar scalar
                && !(scalar.plain() && scalar.kind().equals(YamlWords.NOTHING));
        if (word) {
            return off(node, path, reading);
        }
        Optional<Values> values = section.read(node, path, reading, hint);
        return values.isPresent() ? Optional.of(values) : Optional.empty();
    }

    private Optional<Optional<Values>> off(Node node, KeyPath path, Reading reading) {
        Optional<Reading.Word> word = reading.word(node, path, OFF);
        if (word.isPresent() && word.get().text().equals(OFF)) {
            return Optional.of(Optional.empty());
        }
        word.ifPresent(other -> reading.problems()
                .error(
                        node.mark(),
                        path,
                        Text.quote(other.text()) + " is neither keys nor off",
                        "write KEY: VALUE lines" + hint));
        return Optional.empty();
    }

    @Override
    public String title() {
        return "keys or `off`";
    }

    @Override
    public void describe(ObjectNode schema) {
        ArrayNode either = schema.putArray("anyOf");
        section.describe(either.addObject());
        either.addObject().put("const", OFF);
        either.addObject().put("$ref", "#/$defs/environment");
    }
}
