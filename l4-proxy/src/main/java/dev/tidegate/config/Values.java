package dev.tidegate.config;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What a section gave for its keys. Confined to the thread that reads; complete once its section has been read. */
final class Values {
    /** A section that was left out: every key is absent. */
    static final Values NONE = new Values();

    private final Map<Key<?>, Located<?>> given = new HashMap<>();
    private final Set<Key<?>> refused = new HashSet<>();

    <T> void put(Key<T> key, Optional<T> value, Mark mark, KeyPath path) {
        if (value.isPresent()) {
            given.put(key, new Located<>(value.get(), mark, path));
        } else {
            refused.add(key);
        }
    }

    /** The value that the file gives. */
    @SuppressWarnings("unchecked") // put is the only writer and pairs a Key<T> with a Located<T>
    <T> Optional<Located<T>> given(Key<T> key) {
        return Optional.ofNullable((Located<T>) given.get(key));
    }

    /** The value that holds: given, or by default; nothing if it was refused or has no default of its own. */
    <T> Optional<T> value(Key<T> key) {
        if (refused.contains(key)) {
            return Optional.empty();
        }
        return given(key).map(Located::value).or(key::fallback);
    }

    /** The value that holds, where a reading without errors promises one. */
    <T> T get(Key<T> key) {
        return value(key).orElseThrow(() -> new IllegalStateException("key " + key + " has neither value nor problem"));
    }

    boolean isRefused(Key<?> key) {
        return refused.contains(key);
    }
}
