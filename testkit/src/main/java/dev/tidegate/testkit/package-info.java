/** Fakes and harnesses for tests; never shipped. */
package dev.tidegate.testkit;
