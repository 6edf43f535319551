package dev.tidegate.health;

/** What one check found. */
public enum Word {
    /** The target answered as it should. */
    PASS,
    /** It did not: dead, or as good as dead. */
    FAIL,
    /** It lives, and says that it wants no new work. */
    NOT_READY,
    /**
     * The check could not be carried out, for want of something on this side: a descriptor, a source port. It says nothing
     * about the target, so it counts for nothing and interrupts no row of results.
     */
    VOID
}
