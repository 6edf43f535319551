package dev.tidegate.admin;

import java.util.function.BooleanSupplier;

/**
 * Who asks. Immutable.
 *
 * @param role what they may do
 * @param from where they are: an address and port, or {@code unix}, with the user's name if the kernel tells it
 * @param tokenGiven whether they sent a token, good or not
 * @param stillGood whether the role would be granted again now; for what lasts longer than one answer
 */
record Caller(Role role, String from, boolean tokenGiven, BooleanSupplier stillGood) {
    /** For the operator's log. */
    @Override
    public String toString() {
        return role.word() + " " + from;
    }
}
