/** Watches bytes pass, and knows of each connection where its requests begin and end. Knows no channel. */
package dev.tidegate.protocol;
