package dev.tidegate.admin;

import dev.tidegate.admin.view.ChangeView;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator's log: a line for each write, done or refused. Refused ones that come in a flood are summed. Any thread.
 */
final class Audit {
    private static final Logger log = LoggerFactory.getLogger("dev.tidegate.audit");
    private static final int REFUSED_LINES_A_SECOND = 10;
    private static final long SECOND_NANOS = 1_000_000_000;
    private static final int CHANGES_SHOWN = 20;
    private static final int TEXT_SHOWN = 300;

    private final LongSupplier nanoTime;
    private long windowNanos;
    private int refusedInWindow;

    Audit(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.windowNanos = nanoTime.getAsLong();
    }

    /**
     * Tells of a write.
     *
     * @param who the role and where from
     * @param call method and target
     * @param body what was asked for; empty when it was not read
     * @param answer what it was answered with
     */
    synchronized void tell(String who, String call, Values body, Answer answer) {
        if (answer.written().isPresent()) {
            Answer.Written written = answer.written().get();
            log.info(
                    "write by=\"{}\" call=\"{}\" body={} result={} generation={} changes=[{}]",
                    clean(who),
                    clean(call),
                    clean(body.toString()),
                    answer.status().code(),
                    written.generation(),
                    changes(written.changes()));
        } else if (mayTellRefused()) {
            log.info(
                    "write refused by=\"{}\" call=\"{}\" result={}",
                    clean(who),
                    clean(call),
                    answer.status().code());
        }
    }

    /** Tells of the refused writes that had no line of their own; to be called about once a second. */
    synchronized void tellSummed() {
        if (nanoTime.getAsLong() - windowNanos >= SECOND_NANOS) {
            nextWindow();
        }
    }

    private boolean mayTellRefused() {
        tellSummed();
        refusedInWindow++;
        return refusedInWindow <= REFUSED_LINES_A_SECOND;
    }

    private void nextWindow() {
        int summed = refusedInWindow - REFUSED_LINES_A_SECOND;
        if (summed > 0) {
            log.info("writes refused, summed count={}", summed);
        }
        refusedInWindow = 0;
        windowNanos = nanoTime.getAsLong();
    }

    private static String changes(List<ChangeView> changes) {
        String shown = changes.stream()
                .limit(CHANGES_SHOWN)
                .map(change -> clean(change.op() + " " + change.path() + ": " + values(change)))
                .collect(Collectors.joining("; "));
        int more = changes.size() - CHANGES_SHOWN;
        return more > 0 ? shown + "; and " + more + " more" : shown;
    }

    /** What was added or removed has one value, what was changed two. */
    private static String values(ChangeView change) {
        if (change.from() == null) {
            return change.to();
        }
        return change.to() == null ? change.from() : change.from() + " -> " + change.to();
    }

    /** One line's part, whatever was sent: nothing in it can begin a line or end a quote. */
    static String clean(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().limit(TEXT_SHOWN).forEach(c -> append(out, c));
        return out.toString();
    }

    private static void append(StringBuilder out, int c) {
        if (c == '"' || c == '\\') {
            out.append('\\').append((char) c);
            return;
        }
        boolean unseen =
                switch (Character.getType(c)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR,
                            Character.SURROGATE,
                            Character.PRIVATE_USE,
                            Character.UNASSIGNED -> true;
                    default -> false;
                };
        if (unseen) {
            out.append(String.format("\\u{%x}", c));
        } else {
            out.appendCodePoint(c);
        }
    }
}
