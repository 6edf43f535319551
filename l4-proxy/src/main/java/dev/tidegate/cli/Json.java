package dev.tidegate.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A JSON value that was answered, read leniently: what is not there, or is of another kind, reads as empty, so that this
 * command line can talk to an older or newer process. Jackson's core alone: its databind takes longer to load than all the
 * rest of a command. Immutable.
 */
final class Json {
    /** The value that has nothing. */
    static final Json NOTHING = new Json(null);

    private static final JsonFactory FACTORY = new JsonFactory();

    private final Object value; // a Map, a List, a String, a Number, a Boolean or null

    private Json(Object value) {
        this.value = value;
    }

    /**
     * Reads one value.
     *
     * @throws IOException when it is not JSON, or more than one value
     */
    static Json read(byte[] text) throws IOException {
        try (JsonParser parser = FACTORY.createParser(text)) {
            if (parser.nextToken() == null) {
                throw new IOException("it is empty");
            }
            Json json = new Json(value(parser));
            if (parser.nextToken() != null) {
                throw new IOException("it goes on after its end");
            }
            return json;
        }
    }

    /** An object with those members, in their order; values are texts, numbers, booleans, null, or {@link Json}. */
    static Json object(Map<String, ?> members) {
        Map<String, Object> plain = new LinkedHashMap<>();
        members.forEach((name, member) -> plain.put(name, member instanceof Json json ? json.value : member));
        return new Json(plain);
    }

    private static Object value(JsonParser parser) throws IOException {
        return switch (parser.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> members = new LinkedHashMap<>();
                while (parser.nextToken() == JsonToken.FIELD_NAME) {
                    String name = parser.currentName();
                    parser.nextToken();
                    members.put(name, value(parser));
                }
                yield members;
            }
            case START_ARRAY -> {
                List<Object> elements = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(value(parser));
                }
                yield elements;
            }
            case VALUE_STRING -> parser.getText();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> null;
        };
    }

    /** Whether there is a value, and it is not null. */
    boolean isThere() {
        return value != null;
    }

    /** Whether it is an object with that member, be it null. */
    boolean has(String name) {
        return value instanceof Map<?, ?> members && members.containsKey(name);
    }

    /** A member. */
    Json at(String name) {
        return value instanceof Map<?, ?> members && members.get(name) != null ? new Json(members.get(name)) : NOTHING;
    }

    /** A member that is a text or a scalar, as text. */
    String text(String name) {
        return at(name).text();
    }

    /** The scalar as text. */
    String text() {
        return value == null || value instanceof Map || value instanceof List ? "" : value.toString();
    }

    /** A member that is a whole number. */
    long number(String name) {
        return at(name).number();
    }

    /** A member that is any number; 0 if it is none. */
    double decimal(String name) {
        return at(name).value instanceof Number number ? number.doubleValue() : 0;
    }

    /** The whole number. */
    long number() {
        return value instanceof Number number ? number.longValue() : 0;
    }

    /** A member that is true. */
    boolean is(String name) {
        return Boolean.TRUE.equals(at(name).value);
    }

    /** The elements of an array. */
    List<Json> elements() {
        return value instanceof List<?> list ? list.stream().map(Json::new).toList() : List.of();
    }

    /** The elements of a member {@code items}: how the API shows lists. */
    List<Json> items() {
        return at("items").elements();
    }

    /** The members of an object. */
    Map<String, Json> members() {
        if (!(value instanceof Map<?, ?> members)) {
            return Map.of();
        }
        return members.entrySet().stream()
                .collect(Collectors.collectingAndThen(
                        Collectors.toMap(
                                entry -> (String) entry.getKey(),
                                entry -> new Json(entry.getValue()),
                                (a, b) -> b,
                                LinkedHashMap::new),
                        Collections::unmodifiableMap));
    }

    /** The value as text of several lines. */
    String pretty() {
        DefaultIndenter lines = new DefaultIndenter("  ", "\n");
        return written(new DefaultPrettyPrinter().withObjectIndenter(lines).withArrayIndenter(lines));
    }

    private String written(DefaultPrettyPrinter printer) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            if (printer != null) {
                json.setPrettyPrinter(printer);
            }
            write(json, value);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a StringWriter throws none
        }
        return text.toString();
    }

    private static void write(JsonGenerator json, Object value) throws IOException {
        if (value instanceof Map<?, ?> members) {
            json.writeStartObject();
            for (Map.Entry<?, ?> member : members.entrySet()) {
                json.writeFieldName((String) member.getKey());
                write(json, member.getValue());
            }
            json.writeEndObject();
        } else if (value instanceof List<?> elements) {
            json.writeStartArray();
            for (Object element : elements) {
                write(json, element);
            }
            json.writeEndArray();
        } else {
            json.writeObject(value); // scalars need no codec
        }
    }

    /** The value in one line. */
    @Override
    public String toString() {
        return written(null);
    }
}
