package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One word, or a list of such words. Immutable. */
record OneOrMany<T>(ScalarType<T> element) implements ValueType<List<Located<T>>> {
    @Override
    public Optional<List<Located<T>>> read(Node node, KeyPath path, Reading reading) {
        if (!(node instanceof Node.Sequence sequence)) {
            return element.read(node, path, reading).map(value -> List.of(new Located<>(value, node.mark(), path)));
        }
        if (sequence.items().isEmpty()) {
            reading.problems().error(node.mark(), path, "the list is empty", "give at least one, or remove the key");
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

    @Override
    public String title() {
        return element.title() + ", or a list";
    }

    @Override
    public void describe(ObjectNode schema) {
        ArrayNode either = schema.putArray("anyOf");
        element.describe(either.addObject());
        ObjectNode list = either.addObject().put("type", "array").put("minItems", 1);
        element.describe(list.putObject("items"));
    }
}
