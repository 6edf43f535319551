package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A group of keys. Immutable.
 *
 * @param keys those it knows, in the order of the table
 * @param refusals keys that are not here for a reason, with the reason
 */
record Section(List<Key<?>> keys, Map<String, String> refusals) implements ValueType<Values> {
    @Override
    public Optional<Values> read(Node node, KeyPath path, Reading reading) {
        return read(node, path, reading, "");
    }

    /** @param orElse what else may stand there, for whoever wrote neither */
    Optional<Values> read(Node node, KeyPath path, Reading reading, String orElse) {
        if (!(node instanceof Node.Mapping mapping)) {
            reading.problems()
                    .error(node.mark(), path, refusal(node), "write KEY: VALUE lines with " + names() + orElse);
            return Optional.empty();
        }
        Values values = new Values();
        Map<String, Mark> seen = new HashMap<>();
        Set<String> meant = new HashSet<>();
        for (Node.Entry entry : mapping.entries()) {
            if (reading.problems().isFull()) {
                break;
            }
            readEntry(entry, path.key(entry.key().text()), values, seen, meant, reading);
        }
        for (Key<?> key : keys) {
            if (key.required() && !seen.containsKey(key.name()) && !meant.contains(key.name())) {
                reading.problems()
                        .error(
                                node.mark(),
                                path.key(key.name()),
                                "the key is missing",
                                "it is required: " + key.meaning());
            }
        }
        return Optional.of(values);
    }

    private static String refusal(Node node) {
        return node.kind().equals(YamlWords.NOTHING) ? "there is no value" : "this is " + node.kind();
    }

    /** @param meant the keys that unknown ones were probably to be: one mistake is one problem */
    private void readEntry(
            Node.Entry entry, KeyPath path, Values values, Map<String, Mark> seen, Set<String> meant, Reading reading) {
        String name = entry.key().text();
        Mark first = seen.putIfAbsent(name, entry.key().mark());
        if (first != null) {
            reading.problems()
                    .error(
                            entry.key().mark(),
                            path,
                            "the key is given twice, first at "
                                    + first.from(entry.key().mark()),
                            "keep one of them");
            return;
        }
        Optional<Key<?>> key =
                keys.stream().filter(known -> known.name().equals(name)).findFirst();
        if (key.isPresent()) {
            readInto(values, key.get(), entry.value(), path, reading);
        } else {
            reading.problems().error(entry.key().mark(), path, unknown(name, meant));
        }
    }

    private static <T> void readInto(Values values, Key<T> key, Node node, KeyPath path, Reading reading) {
        values.put(key, key.type().read(node, path, reading), node.mark(), path);
    }

    private InvalidValue unknown(String name, Set<String> meant) {
        if (refusals.containsKey(name)) {
            return new InvalidValue("the key " + refusals.get(name), "remove it");
        }
        List<String> places = ConfigKeys.placesOf(name);
        if (!places.isEmpty()) {
            return new InvalidValue("the key does not belong here", "it is known as " + String.join(" and ", places));
        }
        String near = Text.nearest(name, keys.stream().map(Key::name).toList());
        meant.add(near);
        return new InvalidValue(
                "the key is unknown", near.isEmpty() ? "known here: " + names() : "did you mean " + near + "?");
    }

    private String names() {
        return String.join(", ", keys.stream().map(Key::name).toList());
    }

    @Override
    public String title() {
        return "keys";
    }

    @Override
    public void describe(ObjectNode schema) {
        schema.put("type", "object").put("additionalProperties", false);
        ObjectNode properties = schema.putObject("properties");
        ArrayNode required = schema.putArray("required");
        for (Key<?> key : keys) {
            ConfigSchema.describe(key, properties.putObject(key.name()));
            if (key.required()) {
                required.add(key.name());
            }
        }
        if (required.isEmpty()) {
            schema.remove("required");
        }
    }
}
