/** Every counter, timer and access-log field. Workers write, others read. */
package dev.tidegate.telemetry;
