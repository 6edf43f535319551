package dev.tidegate.admin.view;

/**
 * Open connections of an age.
 *
 * @param leMs at most so old, in milliseconds; null: older than all other buckets
 * @param connections how many, those of younger buckets not counted
 */
public record AgeBucket(@MayBeNull Long leMs, int connections) {}
