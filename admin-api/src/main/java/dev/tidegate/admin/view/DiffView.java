package dev.tidegate.admin.view;

import java.util.List;

/**
 * What a write changes.
 *
 * @param generation in force after it; of a dry run, in force now
 * @param changes in a fixed order
 */
public record DiffView(long generation, List<ChangeView> changes) {}
