package dev.tidegate.admin;

import java.util.List;
import java.util.Locale;

/** What of an {@code Accept} header matters here. */
final class Accepts {
    private Accepts() {}

    /** Whether OpenMetrics 1.0 is wanted at least as much as plain text (RFC 9110, section 12.5.1). */
    static boolean openMetrics(List<String> accept) {
        double openMetrics = 0;
        double text = 0;
        for (String header : accept) {
            for (String range : header.toLowerCase(Locale.ROOT).split(",", -1)) {
                String type = range.split(";", -1)[0].strip();
                if (type.equals("application/openmetrics-text") && version(range)) {
                    openMetrics = Math.max(openMetrics, quality(range));
                } else if (type.equals("text/plain")) {
                    text = Math.max(text, quality(range));
                }
            }
        }
        return openMetrics > 0 && openMetrics >= text;
    }

    private static boolean version(String range) {
        String version = parameter(range, "version", "1.0.0");
        return version.equals("1.0.0") || version.equals("0.0.1");
    }

    private static double quality(String range) {
        try {
            return Double.parseDouble(parameter(range, "q", "1"));
        } catch (NumberFormatException e) {
            return 0; // a weight that is none is no wish
        }
    }

    private static String parameter(String range, String name, String otherwise) {
        for (String part : range.split(";", -1)) {
            String trimmed = part.strip();
            if (trimmed.startsWith(name + "=")) {
                return trimmed.substring(name.length() + 1).replace("\"", "").strip();
            }
        }
        return otherwise;
    }
}
