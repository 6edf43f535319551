package dev.tidegate.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Watches an operation to its end, and shows how far it is. For one operation, on one thread. */
final class DrainWait {
    private static final long LOOK_MILLIS = 500;
    /** Without a terminal a line is printed when something changed, and at least after so many looks. */
    private static final int LOOKS_A_LINE_AT_LEAST = 20;

    private static final int BAR_WIDTH = 30;
    private static final String CLEAR_LINE = "\r\033[K";

    private final AdminOptions admin;
    private final AdminClient client;
    private final boolean terminal = Stdout.isTerminal(System.getenv());
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private boolean drawn;
    private String printed = "";
    private int looksSincePrinted;

    DrainWait(AdminOptions admin, AdminClient client) {
        this.admin = admin;
        this.client = client;
    }

    /**
     * Waits for the end.
     *
     * @param started the operation as it began
     * @return the exit code
     */
    int until(Json started) throws UnreachableException, RefusedException, InterruptedException {
        Signals.handle("INT", interrupted::countDown);
        Json operation = started;
        try {
            String resource = "/v1/operations/" + AdminClient.segment(started.text("id"));
            while (operation.text("state").equals("running")) {
                show(operation);
                if (interrupted.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                    leave(operation);
                    return Exit.INTERRUPTED;
                }
                operation = client.get(resource);
            }
        } finally {
            wipe();
        }
        admin.show(operation, AnswerText.operation(operation));
        return operation.text("state").equals("done") ? Exit.OK : Exit.FAILED;
    }

    private void leave(Json operation) {
        wipe();
        admin.err()
                .println("tidegate: no longer waiting; the drain goes on (" + operation.text("id")
                        + "). `tidegate operations` shows it, `tidegate undrain` takes it back");
    }

    private void show(Json operation) {
        if (admin.json()) {
            return; // its last state is the answer
        }
        if (terminal) {
            admin.out().print(CLEAR_LINE + line(operation));
            admin.out().flush();
            drawn = true;
            return;
        }
        String remaining = String.valueOf(operation.number("remaining"));
        if (!remaining.equals(printed) || ++looksSincePrinted >= LOOKS_A_LINE_AT_LEAST) {
            admin.out().println(AnswerText.operation(operation));
            printed = remaining;
            looksSincePrinted = 0;
        }
    }

    private void wipe() {
        if (drawn) {
            admin.out().print(CLEAR_LINE);
            admin.out().flush();
            drawn = false;
        }
    }

    /** A bar of what has left, and in words what is left. At most 79 columns, so that it is never wrapped. */
    static String line(Json operation) {
        long total = Math.max(1, operation.number("total"));
        long gone = Math.max(0, total - operation.number("remaining"));
        int full = (int) (BAR_WIDTH * gone / total);
        String line = "[" + "#".repeat(full) + ".".repeat(BAR_WIDTH - full) + "] " + AnswerText.remaining(operation);
        return line.length() < 80 ? line : line.substring(0, 79);
    }
}
