package dev.tidegate.cli;

import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What a drain is about: exactly one of an endpoint, a backend, a frontend, the process. */
final class DrainTarget {
    @ArgGroup(multiplicity = "1")
    private Choice choice;

    /** One of these. */
    static final class Choice {
        @Parameters(
                paramLabel = "BACKEND[/ENDPOINT]",
                converter = ResourceConverter.class,
                description = "One endpoint, or all endpoints of a backend.")
        private String resource;

        @Option(
                names = "--frontend",
                paramLabel = "FRONTEND",
                description = "A frontend: it stops accepting, its connections are retired.")
        private String frontend;

        @Option(names = "--process", description = "The whole process: lame duck, until it is stopped.")
        private boolean process;
    }

    /** To the resource in the API. */
    static final class ResourceConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            return text.contains("/")
                    ? new EndpointName.Converter().convert(text).path()
                    : "/v1/backends/" + AdminClient.segment(text);
        }
    }

    /** Whether it is one endpoint. */
    boolean isEndpoint() {
        return choice.resource != null && choice.resource.contains("/endpoints/");
    }

    /** Where the API shows it. */
    String resource() {
        return choice.process ? "/v1/status" : path();
    }

    /** What its resources in the API begin with. */
    String path() {
        if (choice.process) {
            return "/v1";
        }
        if (choice.frontend != null) {
            return "/v1/frontends/" + AdminClient.segment(choice.frontend);
        }
        return choice.resource;
    }
}
