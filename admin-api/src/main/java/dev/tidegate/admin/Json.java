package dev.tidegate.admin;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** How views become JSON: members in snake case, times as RFC 3339, one line with its end. */
final class Json {
    static final ObjectMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .addModule(new SimpleModule().addSerializer(Instant.class, new InstantText()))
            .build();

    private Json() {}

    private static final class InstantText extends JsonSerializer<Instant> {
        @Override
        public void serialize(Instant value, JsonGenerator json, SerializerProvider serializers) throws IOException {
            json.writeString(value.toString());
        }
    }

    static byte[] bytes(Object view) {
        return (text(view) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    static String text(Object view) {
        try {
            return MAPPER.writeValueAsString(view);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a view that is no JSON: " + view.getClass(), e);
        }
    }
}
