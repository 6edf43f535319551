package dev.tidegate.config;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/** What a key's value may be: how it is read, and how documents describe it. Immutable. */
interface ValueType<T> {
    /** The value; nothing if it could not be read, and then the problems say why. */
    Optional<T> read(Node node, KeyPath path, Reading reading);

    /** The type's name, for the table. */
    String title();

    /** The unit of its numbers, for the table; may be empty. */
    default String unit() {
        return "";
    }

    /** The values it takes, for the table and for hints; may be empty. */
    default String range() {
        return "";
    }

    /** Writes the JSON Schema of such a value. */
    void describe(ObjectNode schema);
}
