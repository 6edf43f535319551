/** The nouns: immutable snapshot, frontends, backends, endpoints, close reasons; and the endpoint cell that survives reloads. */
package dev.tidegate.model;
