package dev.tidegate.admin;

/** What an answer's body is. Immutable. */
sealed interface Shape {
    /**
     * A JSON object.
     *
     * @param view the record whose components are its members
     */
    record One(Class<? extends Record> view) implements Shape {}

    /**
     * {@code {"items": […], "total": N}}.
     *
     * @param view of which records
     */
    record ListOf(Class<? extends Record> view) implements Shape {}

    /** A JSON object of any members. */
    record Free() implements Shape {}

    /**
     * Something that is no JSON.
     *
     * @param mediaType what
     */
    record Text(String mediaType) implements Shape {}

    /** No body. */
    record None() implements Shape {}
}
