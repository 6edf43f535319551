package dev.tidegate.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GrowthTest {
    @Test
    void everyResultOfEverySizeIsKeptBySizeAndSubject() {
        Map<Integer, Trial> trials = new LinkedHashMap<>();
        Map<Integer, Measurements> bySize = new LinkedHashMap<>();
        for (int size : Growth.CONNECTIONS.sizes()) {
            Trial trial = Trial.named("small").withConnections(size);
            trials.put(size, trial);
            Measurements measured = new Measurements();
            measured.add(trial, "haproxy", result(size));
            measured.add(trial, "haproxy", result(3L * size));
            bySize.put(size, measured);
        }
        Growth.Grown grown = new Growth.Grown(Growth.CONNECTIONS, trials, bySize);

        JsonNode json = new ObjectMapper().valueToTree(grown.rounds(List.of("haproxy", "nginx")));

        assertEquals(200, grown.cost("haproxy", 100).median());
        assertEquals(4, json.size());
        assertEquals(2, json.get("1000").get("haproxy").size());
        assertEquals(
                3_000, json.get("1000").get("haproxy").get(1).get("cpuMicros").asLong());
        assertEquals(0, json.get("1000").get("nginx").size());
    }

    private static LoadResult result(long cpuMicros) {
        return new LoadResult(1, 1, 1_000_000_000, cpuMicros, 0, 0, 0, "");
    }
}
