/** What an operator asks for: every write of the admin API as a value, and how it came out. Immutable. */
package dev.tidegate.admin.command;
