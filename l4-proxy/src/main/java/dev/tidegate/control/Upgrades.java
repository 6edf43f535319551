package dev.tidegate.control;

import dev.tidegate.admin.command.Outcome;
import dev.tidegate.admin.view.UpgradeView;

/** Has another process take this one's place. Any thread. */
public interface Upgrades {
    /** How the last one stands. */
    UpgradeView view();

    /**
     * Begins one, which may take a moment.
     *
     * @param dryRun only to tell whether it could begin
     */
    Outcome begin(boolean dryRun);
}
