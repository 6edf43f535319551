package dev.tidegate.admin.view;

import java.time.Instant;

/**
 * An ejection of an endpoint, because connections to it fared badly.
 *
 * @param until when it ends
 * @param why in words
 * @param times how often in a row; each time lasts longer
 */
public record EjectionView(Instant until, String why, int times) {}
