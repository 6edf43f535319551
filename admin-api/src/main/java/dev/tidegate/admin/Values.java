package dev.tidegate.admin;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** What was sent for some fields, checked. Immutable. */
record Values(Map<String, Object> byName) {
    static final Values NONE = new Values(Map.of());

    Values {
        byName = Map.copyOf(byName);
    }

    Optional<Duration> duration(String name) {
        return Optional.ofNullable((Duration) byName.get(name));
    }

    Optional<String> text(String name) {
        return Optional.ofNullable((String) byName.get(name));
    }

    /** For a field that is required. */
    String requiredText(String name) {
        return text(name).orElseThrow();
    }

    OptionalInt integer(String name) {
        Long value = (Long) byName.get(name);
        return value == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(value));
    }

    boolean isTrue(String name) {
        return "true".equals(byName.get(name));
    }
}
