package dev.tidegate.telemetry;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import dev.tidegate.model.Side;
import java.io.IOException;

/** One JSON object a line, every key in every line, null for what there is not. */
final class JsonLineFormat implements LineFormat {
    /** All keys, in their order. */
    static final String KEYS = "time id frontend listener client client_source local backend endpoint endpoint_address"
            + " protocol generation connect_ms first_byte_ms duration_ms bytes_received bytes_sent requests attempts"
            + " closed_by reason retired how cut_mid_exchange";

    private static final JsonFactory FACTORY = JsonFactory.builder()
            // Beyond ASCII there are characters that some readers take for a line's end.
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .build();

    private final TimeText time = new TimeText("yyyy-MM-dd'T'HH:mm:ss");
    private final StringBuilder text = new StringBuilder(64);
    private LineBuffer target;
    private JsonGenerator json;

    @Override
    public void write(AccessRecord record, LineBuffer out) throws IOException {
        if (target != out) {
            target = out;
            json = FACTORY.createGenerator(out);
            json.setPrettyPrinter(new MinimalPrettyPrinter(""));
        }
        try {
            writeObject(record);
            json.flush();
        } catch (IOException | RuntimeException e) {
            target = null; // the generator is in the middle of an object: never again
            throw e;
        }
        out.write('\n');
    }

    private void writeObject(AccessRecord record) throws IOException {
        json.writeStartObject();
        json.writeStringField("time", time(record.endMillis));
        json.writeStringField("id", id(record));
        json.writeStringField("frontend", record.frontend);
        json.writeStringField("listener", record.listener);
        json.writeStringField("client", AddressText.of(record.client));
        json.writeStringField("client_source", "peer");
        json.writeStringField("local", AddressText.of(record.local));
        json.writeStringField("backend", record.backend);
        json.writeStringField("endpoint", record.endpoint);
        json.writeStringField("endpoint_address", AddressText.of(record.endpointAddress));
        json.writeStringField("protocol", record.protocol.word());
        json.writeNumberField("generation", record.generation);
        writeMillis("connect_ms", record.connectNanos);
        writeMillis("first_byte_ms", record.firstByteNanos);
        writeMillis("duration_ms", record.durationNanos);
        json.writeNumberField("bytes_received", record.bytesReceived);
        json.writeNumberField("bytes_sent", record.bytesSent);
        json.writeNumberField("requests", record.requests);
        json.writeNumberField("attempts", record.attempts);
        json.writeStringField("closed_by", closedBy(record.closedBy));
        json.writeStringField("reason", record.reason == null ? null : record.reason.word());
        json.writeBooleanField("retired", record.how != null);
        json.writeStringField("how", record.how == null ? null : record.how.word());
        json.writeBooleanField("cut_mid_exchange", record.cutMidExchange);
        json.writeEndObject();
    }

    private String time(long epochMillis) {
        text.setLength(0);
        time.append(epochMillis, text);
        return text.append('Z').toString();
    }

    private String id(AccessRecord record) {
        text.setLength(0);
        return text.append(record.worker).append('-').append(record.sequence).toString();
    }

    private void writeMillis(String key, long nanos) throws IOException {
        json.writeFieldName(key);
        if (nanos < 0) {
            json.writeNull();
            return;
        }
        long micros = (nanos + 500) / 1000;
        int rest = (int) (micros % 1000);
        text.setLength(0);
        text.append(micros / 1000)
                .append('.')
                .append((char) ('0' + rest / 100))
                .append((char) ('0' + rest / 10 % 10))
                .append((char) ('0' + rest % 10));
        json.writeNumber(text.toString());
    }

    private static String closedBy(Side side) {
        if (side == null) {
            return "tidegate";
        }
        return switch (side) {
            case DOWNSTREAM -> "client";
            case UPSTREAM -> "endpoint";
        };
    }
}
