package dev.tidegate.admin;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Collectors;

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

    /** For the operator's log, as {@code {deadline=15s, mode=cut}}: by name, durations in the words they are given in. */
    @Override
    public String toString() {
        return new TreeMap<>(byName)
                .entrySet().stream()
                        .map(value -> value.getKey() + "=" + shown(value.getValue()))
                        .collect(Collectors.joining(", ", "{", "}"));
    }

    private static String shown(Object value) {
        if (value instanceof Duration duration) {
            long millis = duration.toMillis();
            return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
        }
        return value.toString();
    }
}
