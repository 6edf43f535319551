package dev.tidegate.admin.command;

/** What a drain is about. Immutable. */
public sealed interface Target {
    /** The whole process. */
    @SuppressWarnings("JavaLangClash")
    record Process() implements Target {
        @Override
        public String toString() {
            return "process";
        }
    }

    /**
     * A frontend: it stops accepting, its connections are retired.
     *
     * @param frontend its name
     */
    record OfFrontend(String frontend) implements Target {
        @Override
        public String toString() {
            return "frontends/" + frontend;
        }
    }

    /**
     * All endpoints of a backend.
     *
     * @param backend its name
     */
    record OfBackend(String backend) implements Target {
        @Override
        public String toString() {
            return "backends/" + backend;
        }
    }

    /**
     * One endpoint.
     *
     * @param backend its backend's name
     * @param endpoint its own name
     */
    record OfEndpoint(String backend, String endpoint) implements Target {
        @Override
        public String toString() {
            return "backends/" + backend + "/endpoints/" + endpoint;
        }
    }
}
