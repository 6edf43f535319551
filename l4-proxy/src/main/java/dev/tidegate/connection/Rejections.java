package dev.tidegate.connection;

import dev.tidegate.admission.Admission;

/** Is told of clients that are refused, at whatever rate they come. On any worker's loop; must not block. */
@FunctionalInterface
public interface Rejections {
    /** A client was refused. */
    void onRejected(String frontend, Admission.Verdict verdict);
}
