package dev.tidegate.config;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** What is asked of an endpoint, as the configuration has words for it. */
enum CheckType {
    TCP,
    SEND_EXPECT,
    HTTP,
    GRPC,
    TLS,
    EXEC;

    static Map<String, CheckType> words() {
        Map<String, CheckType> words = new LinkedHashMap<>();
        for (CheckType type : values()) {
            words.put(type.word(), type);
        }
        return words;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
