package dev.tidegate.admin;

/**
 * A member of a body, or a query parameter. Immutable.
 *
 * @param name as it is sent
 * @param kind what it may be
 * @param required whether it must be there
 * @param description for the reader of the API's description
 */
record Field(String name, Kind kind, boolean required, String description) {
    static Field optional(String name, Kind kind, String description) {
        return new Field(name, kind, false, description);
    }

    static Field required(String name, Kind kind, String description) {
        return new Field(name, kind, true, description);
    }
}
