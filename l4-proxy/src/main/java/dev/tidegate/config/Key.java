package dev.tidegate.config;

import java.util.Optional;

/**
 * A key of the configuration and all there is to say about it. Immutable; two keys are the same only if they are one
 * object, since {@code max-connections} comes at three places.
 */
final class Key<T> {
    private final String name;
    private final ValueType<T> type;
    private final String meaning;
    private final Absent<T> absent;
    private final boolean live;

    /** What holds when the key is absent. */
    private record Absent<T>(boolean refused, Optional<T> value, String text) {}

    private Key(String name, ValueType<T> type, Absent<T> absent, String meaning, boolean live) {
        this.name = name;
        this.type = type;
        this.absent = absent;
        this.live = live;
        this.meaning = meaning;
    }

    /** A key that must be there. */
    static <T> Key<T> required(String name, ValueType<T> type, String meaning) {
        return new Key<>(name, type, new Absent<>(true, Optional.empty(), "required"), meaning, true);
    }

    /** A key with a fixed default; {@code text} is how the configuration would write it. */
    static <T> Key<T> optional(String name, ValueType<T> type, T fallback, String text, String meaning) {
        return new Key<>(name, type, new Absent<>(false, Optional.of(fallback), text), meaning, true);
    }

    /** A key whose default depends on others; {@code text} says how. */
    static <T> Key<T> derived(String name, ValueType<T> type, String text, String meaning) {
        return new Key<>(name, type, new Absent<>(false, Optional.empty(), text), meaning, true);
    }

    /** A group of keys that may be left out as a whole. */
    static Key<Values> section(String name, Section section, String meaning) {
        return new Key<>(name, section, new Absent<>(false, Optional.of(Values.NONE), ""), meaning, true);
    }

    /** The same key, of which a changed value takes effect at the next start only. */
    Key<T> atRestart() {
        return new Key<>(name, type, absent, meaning, false);
    }

    String name() {
        return name;
    }

    ValueType<T> type() {
        return type;
    }

    boolean required() {
        return absent.refused();
    }

    Optional<T> fallback() {
        return absent.value();
    }

    String fallbackText() {
        return absent.text();
    }

    String meaning() {
        return meaning;
    }

    /** Whether a reload applies a changed value. */
    boolean live() {
        return live;
    }

    /** What a reload does with a changed value, in a word. */
    String onReload() {
        return live ? "live" : "restart";
    }

    @Override
    public String toString() {
        return name;
    }
}
