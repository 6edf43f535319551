package dev.tidegate.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * An endpoint as a command names it: {@code BACKEND/ENDPOINT}. Immutable.
 *
 * @param backend without a slash
 * @param endpoint may have slashes: the name of an endpoint without one is its address
 */
record EndpointName(String backend, String endpoint) {
    static final class Converter implements ITypeConverter<EndpointName> {
        @Override
        public EndpointName convert(String text) {
            int slash = text.indexOf('/');
            if (slash < 1 || slash == text.length() - 1) {
                throw new TypeConversionException(
                        "\"" + text + "\" names no endpoint; write BACKEND/ENDPOINT, as in web/a");
            }
            return new EndpointName(text.substring(0, slash), text.substring(slash + 1));
        }
    }

    /** Its resource in the API. */
    String path() {
        return "/v1/backends/" + AdminClient.segment(backend) + "/endpoints/" + AdminClient.segment(endpoint);
    }

    @Override
    public String toString() {
        return backend + "/" + endpoint;
    }
}
