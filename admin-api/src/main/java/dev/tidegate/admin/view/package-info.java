/**
 * What the admin API shows. Each record is one JSON object: its components, in snake case, are the members. A member that
 * is null is shown as null. Immutable.
 */
package dev.tidegate.admin.view;
