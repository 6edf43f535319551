package dev.tidegate.config;

import java.util.regex.Pattern;

/** What frontends, backends and endpoints may be called. Stateless. */
final class Names {
    static final int NAME_MAX = 63;
    static final int ENDPOINT_NAME_MAX = 260;
    static final String NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_.-]{0," + (NAME_MAX - 1) + "}";
    /** Wider, since an endpoint without a name goes by its address. */
    static final String ENDPOINT_NAME_PATTERN =
            "[A-Za-z0-9_\\[][A-Za-z0-9_.:\\[\\]-]{0," + (ENDPOINT_NAME_MAX - 1) + "}";

    private static final Pattern NAME = Pattern.compile(NAME_PATTERN);
    private static final Pattern ENDPOINT_NAME = Pattern.compile(ENDPOINT_NAME_PATTERN);

    private Names() {}

    static void checkName(String text) throws InvalidValue {
        if (!NAME.matcher(text).matches()) {
            throw new InvalidValue(
                    "name " + Text.quote(text) + " is not allowed",
                    "use 1 to " + NAME_MAX + " letters, digits, '-', '_' or '.', beginning with a letter or digit");
        }
    }

    static void checkEndpointName(String text) throws InvalidValue {
        if (!ENDPOINT_NAME.matcher(text).matches()) {
            throw new InvalidValue(
                    "name " + Text.quote(text) + " is not allowed",
                    "use 1 to " + ENDPOINT_NAME_MAX
                            + " letters, digits, '-', '_', '.', ':' or brackets, beginning with a letter or digit");
        }
    }

    static void requireName(String text) {
        try {
            checkName(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }

    static void requireEndpointName(String text) {
        try {
            checkEndpointName(text);
        } catch (InvalidValue e) {
            throw e.asArgumentError();
        }
    }
}
