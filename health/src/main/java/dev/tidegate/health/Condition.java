package dev.tidegate.health;

/** What checks say of a target, after rise and fall. */
public enum Condition {
    /** Not checked yet. */
    UNKNOWN,
    /** Fit for new connections. */
    UP,
    /** Dead, or as good as dead. */
    DOWN,
    /** Alive, and wants no new connections; what it has may stay. */
    NOT_READY;

    private final String word = name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');

    /** The word that logs and the admin API show. */
    public String word() {
        return word;
    }
}
