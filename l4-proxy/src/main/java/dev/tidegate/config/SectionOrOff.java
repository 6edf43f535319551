package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * A group of keys, or {@code off} for none of what they are about. Immutable.
 *
 * @param section the keys; all of them may be left out, as in {@code {}}
 */
record SectionOrOff(Section section) implements ValueType<Optional<Values>> {
    private static final String OFF = "off";
    private static final String HINT = ", {} for their defaults, or off";

    @Override
    public Optional<Optional<Values>> read(Node node, KeyPath path, Reading reading) {
        boolean word = node instanceof Node.Scalar scalar
                && !(scalar.plain() && scalar.kind().equals(YamlWords.NOTHING));
        if (word) {
            return off(node, path, reading);
        }
        Optional<Values> values = section.read(node, path, reading, HINT);
        return values.isPresent() ? Optional.of(values) : Optional.empty();
    }

    private static Optional<Optional<Values>> off(Node node, KeyPath path, Reading reading) {
        Optional<Reading.Word> word = reading.word(node, path, OFF);
        if (word.isPresent() && word.get().text().equals(OFF)) {
            return Optional.of(Optional.empty());
        }
        word.ifPresent(other -> reading.problems()
                .error(
                        node.mark(),
                        path,
                        Text.quote(other.text()) + " is neither keys nor off",
                        "write KEY: VALUE lines" + HINT));
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
