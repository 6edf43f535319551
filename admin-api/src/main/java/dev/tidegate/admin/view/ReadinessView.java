package dev.tidegate.admin.view;

import java.util.List;

/**
 * Whether connections should be sent here.
 *
 * @param ready whether
 * @param state {@code starting}, {@code ready} or {@code draining}
 * @param withoutCandidate the frontends asked about whose connections would find no endpoint
 */
public record ReadinessView(boolean ready, String state, List<String> withoutCandidate) {}
