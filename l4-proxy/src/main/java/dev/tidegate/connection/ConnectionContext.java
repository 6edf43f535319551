package dev.tidegate.connection;

import dev.tidegate.admission.Admission;
import dev.tidegate.dial.Dialer;
import dev.tidegate.telemetry.AccessRecord;
import dev.tidegate.telemetry.FloodLog;
import dev.tidegate.worker.Worker;
import java.util.function.Consumer;

/**
 * What every connection of one worker shares. Confined to that worker's loop.
 *
 * @param worker whose connections they are
 * @param dialer reaches endpoints
 * @param sockets the transport
 * @param admission where connections are counted out
 * @param floods sums what can happen at any rate; never blocks
 * @param accessLog takes the record of each ended connection; never blocks
 */
public record ConnectionContext(
        Worker worker,
        Dialer dialer,
        Sockets sockets,
        Admission admission,
        FloodLog floods,
        Consumer<AccessRecord> accessLog) {}
