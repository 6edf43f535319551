/** Is this target fit for traffic? Verdicts about targets; knows neither the proxy nor the admin API. */
package dev.tidegate.health;
