package dev.tidegate.admin.view;

import java.util.List;

/**
 * All that a live page shows, at one moment.
 *
 * @param status the process
 * @param frontends all
 * @param backends all
 */
public record StatsView(StatusView status, List<FrontendView> frontends, List<BackendView> backends) {}
