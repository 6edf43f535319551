package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One word, or a list of such words. Immutable.
 *
 * @param element what each is
 * @param max how many there may be; {@link #UNBOUNDED}: as many as a file holds
 */
record OneOrMany<T>(ScalarType<T> element, int max) implements ValueType<List<Located<T>>> {
    static final int UNBOUNDED = Integer.MAX_VALUE;

    OneOrMany(ScalarType<T> element) {
        this(element, UNBOUNDED);
    }

    @Override
    public Optional<List<Located<T>>> read(Node node, KeyPath path, Reading reading) {
        if (!(node instanceof Node.Sequence sequence)) {
            return element.read(node, path, reading).map(value -> List.of(new Located<>(value, node.mark(), path)));
        }
        if (sequence.items().isEmpty()) {
            reading.problems().error(node.mark(), path, "the list is empty", "give at least one, or remove the key");
            return Optional.empty();
        }
        if (sequence.items().size() > max) {
            reading.problems().error(node.mark(), path, tooMany(sequence.items().size(), max));
            return Optional.empty();
        }
        List<Located<T>> values = new ArrayList<>();
        for (int i = 0; i < sequence.items().size() && !reading.problems().isFull(); i++) {
            Node item = sequence.items().get(i);
            KeyPath itemPath = path.index(i);
            element.read(item, itemPath, reading)
                    .ifPresent(value -> values.add(new Located<>(value, item.mark(), itemPath)));
        }
        return Optional.of(values);
    }

    static InvalidValue tooMany(int size, int max) {
        return new InvalidValue("the list has " + size + " elements", "keep at most " + max);
    }

    @Override
    public String title() {
        return element.title() + ", or a list";
    }

    @Override
    public void describe(ObjectNode schema) {
        ArrayNode either = schema.putArray("anyOf");
        element.describe(either.addObject());
        ObjectNode list = either.addObject().put("type", "array").put("minItems", 1);
        if (max != UNBOUNDED) {
            list.put("maxItems", max);
        }
        element.describe(list.putObject("items"));
    }
}
