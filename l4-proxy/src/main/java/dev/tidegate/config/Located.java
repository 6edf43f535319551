package dev.tidegate.config;

/** A value read, and where it was. Immutable. */
record Located<T>(T value, Mark mark, KeyPath path) {}
