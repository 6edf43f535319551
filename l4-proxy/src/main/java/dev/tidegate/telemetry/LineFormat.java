package dev.tidegate.telemetry;

import java.io.IOException;

/** Makes a line of a record. Confined to the log's writer thread. */
interface LineFormat {
    /** Appends the line, its line feed included. */
    void write(AccessRecord record, LineBuffer out) throws IOException;
}
