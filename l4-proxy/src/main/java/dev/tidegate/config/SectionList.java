package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A list of like sections, each known by its name if it has one. Immutable.
 *
 * @param section what each element has
 * @param max how many there may be; {@link OneOrMany#UNBOUNDED}: as many as a file holds
 */
record SectionList(Section section, int max) implements ValueType<List<Located<Values>>> {
    SectionList(Section section) {
        this(section, OneOrMany.UNBOUNDED);
    }

    @Override
    public Optional<List<Located<Values>>> read(Node node, KeyPath path, Reading reading) {
        if (!(node instanceof Node.Sequence sequence)) {
            reading.problems()
                    .error(node.mark(), path, "this is " + node.kind(), "write a list, each element after a dash");
            return Optional.empty();
        }
        if (sequence.items().isEmpty()) {
            reading.problems().error(node.mark(), path, "the list is empty", "give at least one element");
            return Optional.empty();
        }
        if (sequence.items().size() > max) {
            reading.problems()
                    .error(node.mark(), path, OneOrMany.tooMany(sequence.items().size(), max));
            return Optional.empty();
        }
        List<Located<Values>> elements = new ArrayList<>();
        for (int i = 0; i < sequence.items().size() && !reading.problems().isFull(); i++) {
            Node item = sequence.items().get(i);
            KeyPath itemPath = nameOf(item, reading).map(path::key).orElse(path.index(i));
            section.read(item, itemPath, reading)
                    .ifPresent(values -> elements.add(new Located<>(values, item.mark(), itemPath)));
        }
        return Optional.of(elements);
    }

    /** The element's name, if it has one that can be shown; whether it is right is for its own key to say. */
    private static Optional<String> nameOf(Node item, Reading reading) {
        if (!(item instanceof Node.Mapping mapping)) {
            return Optional.empty();
        }
        for (Node.Entry entry : mapping.entries()) {
            if (entry.key().text().equals("name") && entry.value() instanceof Node.Scalar name) {
                try {
                    String text = reading.environment().expand(name.text());
                    return text.isEmpty() ? Optional.empty() : Optional.of(text);
                } catch (InvalidValue e) {
                    return Optional.empty(); // told where the name itself is read
                }
            }
        }
        return Optional.empty();
    }

    @Override
    public String title() {
        return "list";
    }

    @Override
    public void describe(ObjectNode schema) {
        schema.put("type", "array").put("minItems", 1);
        if (max != OneOrMany.UNBOUNDED) {
            schema.put("maxItems", max);
        }
        section.describe(schema.putObject("items"));
    }
}
