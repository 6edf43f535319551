package dev.tidegate.admin;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import dev.tidegate.admin.view.EventView;
import dev.tidegate.admin.view.MayBeNull;
import dev.tidegate.admin.view.ProblemDetails;
import dev.tidegate.admin.view.StatsView;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The API's description (OpenAPI 3.1), made from the table of routes and the views that they answer. */
final class OpenApi {
    private static final PropertyNamingStrategies.SnakeCaseStrategy NAMES =
            new PropertyNamingStrategies.SnakeCaseStrategy();
    private static final String PROBLEM = "Problem";

    private final Map<String, Object> schemas = new TreeMap<>();

    private OpenApi() {}

    /** The document, as maps, lists and scalars. */
    static Map<String, Object> document(List<Route> routes) {
        return new OpenApi().build(routes);
    }

    private Map<String, Object> build(List<Route> routes) {
        Map<String, Object> paths = new LinkedHashMap<>();
        for (Route route : routes) {
            Map<String, Object> item = object(paths.computeIfAbsent(route.template(), path -> new LinkedHashMap<>()));
            item.put(route.method().name().toLowerCase(Locale.ROOT), operation(route));
        }
        reference(EventView.class);
        reference(StatsView.class);
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("openapi", "3.1.0");
        document.put("info", info());
        document.put("servers", List.of(Map.of("url", "/")));
        document.put("paths", paths);
        document.put("components", components());
        return document;
    }

    private static Map<String, Object> info() {
        return ordered(
                "title", "Tidegate admin API",
                "version", "1",
                "description",
                        "Served on a UNIX socket, where whoever can open it is admin, and on TCP with tokens."
                                + " GET changes nothing. x-role is the least role that may call.");
    }

    private Map<String, Object> components() {
        return ordered(
                "schemas", schemas,
                "responses",
                        Map.of(
                                PROBLEM,
                                ordered(
                                        "description",
                                        "It was refused, or failed; nothing was changed",
                                        "content",
                                        Map.of(Answer.PROBLEM, Map.of("schema", reference(ProblemDetails.class))))),
                "securitySchemes", Map.of("token", ordered("type", "http", "scheme", "bearer")));
    }

    private Map<String, Object> operation(Route route) {
        Map<String, Object> operation = new LinkedHashMap<>();
        operation.put("operationId", route.id());
        operation.put("summary", route.summary());
        operation.put("x-role", route.role().word());
        operation.put("security", route.role() == Role.ANYONE ? List.of() : security(route));
        List<Object> parameters = parameters(route);
        if (!parameters.isEmpty()) {
            operation.put("parameters", parameters);
        }
        if (route.isWrite()) {
            operation.put("requestBody", requestBody(route.body()));
        }
        operation.put("responses", responses(route));
        return operation;
    }

    private static List<Object> security(Route route) {
        Map<String, Object> token = Map.of("token", List.of());
        return route.openLocally() ? List.of(token, Map.of()) : List.of(token);
    }

    private static List<Object> parameters(Route route) {
        List<Object> parameters = new ArrayList<>();
        for (String name : route.pathParameters()) {
            parameters.add(ordered("name", name, "in", "path", "required", true, "schema", Map.of("type", "string")));
        }
        for (Field field : route.query()) {
            parameters.add(ordered(
                    "name", field.name(),
                    "in", "query",
                    "description", field.description(),
                    "schema", field.kind().schema()));
        }
        if (route.isWrite()) {
            parameters.add(ordered(
                    "name", "If-Match",
                    "in", "header",
                    "description", "the generation that you have seen, as its ETag; another one in force: 412",
                    "schema", Map.of("type", "string")));
        }
        return parameters;
    }

    private static Map<String, Object> requestBody(List<Field> fields) {
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        for (Field field : fields) {
            Map<String, Object> schema = new LinkedHashMap<>(field.kind().schema());
            schema.put("description", field.description());
            properties.put(field.name(), schema);
            if (field.required()) {
                required.add(field.name());
            }
        }
        Map<String, Object> schema = ordered("type", "object", "properties", properties);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        schema.put("additionalProperties", false);
        return ordered("required", !required.isEmpty(), "content", Map.of(Answer.JSON, Map.of("schema", schema)));
    }

    private Map<String, Object> responses(Route route) {
        Map<String, List<Reply>> byStatus = new TreeMap<>();
        for (Reply reply : route.replies()) {
            byStatus.computeIfAbsent(Integer.toString(reply.status()), status -> new ArrayList<>())
                    .add(reply);
        }
        Map<String, Object> responses = new LinkedHashMap<>();
        byStatus.forEach((status, replies) -> responses.put(status, response(replies)));
        responses.put("default", Map.of("$ref", "#/components/responses/" + PROBLEM));
        return responses;
    }

    private Map<String, Object> response(List<Reply> replies) {
        String description =
                String.join("; or: ", replies.stream().map(Reply::description).toList());
        Map<String, Object> response = ordered("description", description);
        List<Object> json = new ArrayList<>();
        Map<String, Object> content = new LinkedHashMap<>();
        for (Reply reply : replies) {
            if (reply.shape() instanceof Shape.Text text) {
                content.put(text.mediaType(), Map.of("schema", Map.of("type", "string")));
            } else if (!(reply.shape() instanceof Shape.None)) {
                json.add(schema(reply.shape()));
            }
        }
        if (!json.isEmpty()) {
            content.put(Answer.JSON, Map.of("schema", json.size() == 1 ? json.get(0) : Map.of("oneOf", json)));
        }
        if (!content.isEmpty()) {
            response.put("content", content);
        }
        return response;
    }

    private Map<String, Object> schema(Shape shape) {
        if (shape instanceof Shape.One one) {
            return reference(one.view());
        }
        if (shape instanceof Shape.ListOf list) {
            Map<String, Object> items = ordered("type", "array", "items", reference(list.view()));
            return ordered(
                    "type", "object",
                    "properties", ordered("items", items, "total", Map.of("type", "integer")),
                    "required", List.of("items", "total"));
        }
        return ordered("type", "object");
    }

    private Map<String, Object> reference(Class<?> view) {
        String name = view.getSimpleName();
        if (!schemas.containsKey(name)) {
            schemas.put(name, Map.of()); // before its members, one of which may be of its own kind
            schemas.put(name, record(view));
        }
        return ordered("$ref", "#/components/schemas/" + name);
    }

    private Map<String, Object> record(Class<?> view) {
        Map<String, Object> properties = new LinkedHashMap<>();
        List<String> required = new ArrayList<>();
        for (RecordComponent component : view.getRecordComponents()) {
            String name = NAMES.translate(component.getName());
            properties.put(name, member(component));
            if (!component.getAccessor().isAnnotationPresent(com.fasterxml.jackson.annotation.JsonInclude.class)) {
                required.add(name);
            }
        }
        return ordered("type", "object", "properties", properties, "required", required);
    }

    private Map<String, Object> member(RecordComponent component) {
        Map<String, Object> schema = schema(component.getGenericType());
        if (!component.isAnnotationPresent(MayBeNull.class)) {
            return schema;
        }
        if (!schema.containsKey("type")) {
            return ordered("anyOf", List.of(schema, Map.of("type", "null"))); // a reference
        }
        Map<String, Object> nullable = new LinkedHashMap<>(schema);
        nullable.put("type", List.of(schema.get("type"), "null"));
        return nullable;
    }

    private Map<String, Object> schema(Type type) {
        if (type instanceof ParameterizedType generic) {
            Type[] of = generic.getActualTypeArguments();
            return generic.getRawType() == List.class
                    ? ordered("type", "array", "items", schema(of[0]))
                    : ordered("type", "object", "additionalProperties", schema(of[1]));
        }
        return type instanceof Class<?> plain ? schemaOf(plain) : unknown(type);
    }

    private Map<String, Object> schemaOf(Class<?> type) {
        if (type == String.class) {
            return ordered("type", "string");
        }
        if (type == Instant.class) {
            return ordered("type", "string", "format", "date-time");
        }
        if (type == boolean.class || type == Boolean.class) {
            return ordered("type", "boolean");
        }
        if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
            return ordered("type", "integer");
        }
        if (type == double.class || type == Double.class) {
            return ordered("type", "number");
        }
        if (type == Object.class) {
            return ordered();
        }
        return type.isRecord() ? reference(type) : unknown(type);
    }

    private static Map<String, Object> unknown(Type type) {
        throw new IllegalStateException("a view has a member of a type that has no words here: " + type);
    }

    private static Map<String, Object> ordered(Object... namesAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }

    @SuppressWarnings("unchecked") // made above, as just that
    private static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }
}
