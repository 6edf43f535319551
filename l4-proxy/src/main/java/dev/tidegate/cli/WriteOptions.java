package dev.tidegate.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** What every write can be given. */
final class WriteOptions {
    @Option(names = "--dry-run", description = "Changes nothing: tells what would be changed.")
    private boolean dryRun;

    @Option(
            names = "--if-generation",
            paramLabel = "N",
            converter = GenerationConverter.class,
            description = "Refused when another generation is in force by now.")
    private Long generation;

    static final class GenerationConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            if (!text.matches("[0-9]{1,18}")) {
                throw new TypeConversionException(
                        "\"" + text + "\" is no generation; write the number that `tidegate status` shows");
            }
            return Long.valueOf(text);
        }
    }

    /** That request, with what was given. */
    AdminClient.Request apply(AdminClient.Request request) {
        Map<String, String> headers = new LinkedHashMap<>(request.headers());
        if (generation != null) {
            headers.put("If-Match", "\"" + generation + "\"");
        }
        String target = request.target();
        if (dryRun) {
            target += (target.contains("?") ? "&" : "?") + "dryRun=true";
        }
        return new AdminClient.Request(request.method(), target, headers, request.body());
    }

    /** Whether nothing is to be changed. */
    boolean dryRun() {
        return dryRun;
    }
}
