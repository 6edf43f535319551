package dev.tidegate.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.tidegate.admin.view.ProblemView;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the JSON object that a write takes, and finds all that is wrong with its members at once. Used for one body.
 */
final class BodyReader {
    private static final JsonFactory JSON = new JsonFactory();
    private static final int PROBLEMS_MAX = 20;
    private static final int SHOWN_MAX = 80;

    private final List<Field> fields;
    private final Map<String, Object> values = new HashMap<>();
    private final Set<String> seen = new HashSet<>();
    private final List<ProblemView> problems = new ArrayList<>();

    private BodyReader(List<Field> fields) {
        this.fields = fields;
    }

    /**
     * Reads a body.
     *
     * @param body may be empty, where no field is required
     * @throws Refusal 400 when it is no JSON object, 422 when its members are not what they should be
     */
    static Values read(byte[] body, List<Field> fields) throws Refusal {
        BodyReader reader = new BodyReader(fields);
        if (body.length > 0) {
            reader.readObject(body);
        }
        reader.lookForMissing();
        if (!reader.problems.isEmpty()) {
            throw invalid(reader.problems);
        }
        return new Values(reader.values);
    }

    /** 422 for members. */
    static Refusal invalid(List<ProblemView> problems) {
        ProblemView first = problems.get(0);
        String more = problems.size() == 1 ? "" : " (and " + (problems.size() - 1) + " more)";
        return new Refusal(Answer.problem(
                HttpResponseStatus.UNPROCESSABLE_ENTITY,
                first.path() + ": " + first.message() + "; " + first.hint() + more,
                problems));
    }

    private void readObject(byte[] body) throws Refusal {
        try (JsonParser json = JSON.createParser(body)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new Refusal(Answer.badRequest("the body is no JSON object; " + wantedMembers()));
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                readMember(json);
            }
            if (json.nextToken() != null) {
                throw new Refusal(Answer.badRequest("the body goes on after the JSON object at "
                        + at(json.currentTokenLocation()) + "; send one object alone"));
            }
        } catch (JsonProcessingException e) {
            String where = e.getLocation() == null ? "" : " at " + at(e.getLocation());
            throw new Refusal(Answer.badRequest("the body is not JSON: " + firstLine(e.getOriginalMessage()) + where));
        } catch (IOException e) {
            throw new Refusal(Answer.badRequest("the body is not UTF-8 text: " + firstLine(e.getMessage())));
        }
    }

    private void readMember(JsonParser json) throws IOException {
        String name = json.currentName();
        JsonLocation nameAt = json.currentTokenLocation();
        JsonToken token = json.nextToken();
        JsonLocation valueAt = json.currentTokenLocation();
        String snake = name.replace('-', '_'); // the configuration writes max-connections
        Optional<Field> field =
                fields.stream().filter(each -> each.name().equals(snake)).findFirst();
        if (field.isEmpty()) {
            problem(nameAt, name, "is not known here", wantedMembers());
        } else if (!seen.add(snake)) {
            problem(nameAt, name, "is there twice", "give it once");
        } else {
            readValue(json, token, valueAt, field.get());
        }
        json.skipChildren();
    }

    private void readValue(JsonParser json, JsonToken token, JsonLocation at, Field field) throws IOException {
        JsonToken wanted = field.kind().isNumber() ? JsonToken.VALUE_NUMBER_INT : JsonToken.VALUE_STRING;
        if (token != wanted) {
            problem(at, field.name(), describe(json, token), field.kind().wanted());
            return;
        }
        String text = json.getText();
        Optional<Object> value = field.kind().parse(text);
        if (value.isPresent()) {
            values.put(field.name(), value.get());
        } else {
            problem(
                    at,
                    field.name(),
                    shown(token, text) + " is not taken",
                    field.kind().wanted());
        }
    }

    private void lookForMissing() {
        for (Field field : fields) {
            if (field.required() && !seen.contains(field.name())) {
                problem(
                        JsonLocation.NA,
                        field.name(),
                        "is missing",
                        field.kind().wanted());
            }
        }
    }

    private void problem(JsonLocation at, String name, String message, String hint) {
        if (problems.size() < PROBLEMS_MAX) {
            problems.add(new ProblemView(
                    Math.max(0, at.getLineNr()), Math.max(0, at.getColumnNr()), shorten(name), message, hint));
        }
    }

    private String wantedMembers() {
        return fields.isEmpty()
                ? "send no body, or {}"
                : "it may have "
                        + String.join(", ", fields.stream().map(Field::name).toList());
    }

    private static String describe(JsonParser json, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> "an object is not taken";
            case START_ARRAY -> "a list is not taken";
            default -> shown(token, json.getText()) + " is not taken";
        };
    }

    private static String shown(JsonToken token, String text) {
        return token == JsonToken.VALUE_STRING ? "\"" + shorten(text) + "\"" : shorten(text);
    }

    private static String shorten(String text) {
        return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
    }

    private static String at(JsonLocation location) {
        return "line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    private static String firstLine(String text) {
        return shorten(text.lines().findFirst().orElse(""));
    }
}
