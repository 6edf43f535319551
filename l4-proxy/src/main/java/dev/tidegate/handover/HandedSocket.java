package dev.tidegate.handover;

/**
 * A listening socket on its way from one process to the next. Immutable.
 *
 * @param user whose it is
 * @param name what systemd calls it; empty when it does not come from there
 * @param place what it is known by, in the configuration's words; empty when it goes by its name
 * @param fd the descriptor, of the process that looks at this
 */
public record HandedSocket(User user, String name, String place, int fd) {
    /** Who accepts on it. */
    public enum User {
        /** A frontend, or nobody now. */
        FRONTEND,
        /** The admin API. */
        ADMIN
    }
}
