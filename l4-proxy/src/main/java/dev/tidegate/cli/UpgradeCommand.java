package dev.tidegate.cli;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code tidegate upgrade}. */
@Command(
        name = "upgrade",
        description =
                "Has the program, as it is on the disk now, take over from the running process: nobody is refused, and"
                        + " what was open ends within process.shutdown. Waits until the next process serves.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:another process serves now",
            "1:it was refused, or the next process failed; the running one goes on",
            "2:wrong usage",
            "69:the running process cannot be reached, or does not answer"
        })
final class UpgradeCommand implements Callable<Integer> {
    private static final long LOOK_MILLIS = 200;

    /** So long nobody may answer: between the two it is a moment, on a busy machine a long one. */
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    @Mixin
    private WriteOptions write;

    @Mixin
    private AdminOptions admin;

    @Override
    public Integer call() {
        return admin.talk(client -> {
            Json begun = client.ask(write.apply(AdminClient.Request.write("POST", "/v1/upgrade", Map.of())));
            if (write.dryRun()) {
                admin.show(begun, "possible");
                return Exit.OK;
            }
            return awaitNext(client, begun.number("pid"), begun.number("next"));
        });
    }

    /** Between the two nobody may answer for a moment. */
    private int awaitNext(AdminClient client, long before, long next)
            throws UnreachableException, RefusedException, InterruptedException {
        // A socket may lead into a container, whose processes have other numbers here.
        boolean here = client.address() instanceof ApiAddress.Unix && runs(before);
        long answered = System.nanoTime();
        while (true) {
            try {
                Json now = client.get("/v1/upgrade");
                if (now.number("pid") != before) {
                    admin.show(
                            now, "upgraded: process " + now.number("pid") + " serves, process " + before + " drains");
                    return Exit.OK;
                }
                if (now.text("state").equals("failed")) {
                    return failed(now);
                }
                answered = System.nanoTime();
            } catch (UnreachableException e) {
                boolean nobody = here && !runs(before) && !runs(next);
                if (nobody || System.nanoTime() - answered > SILENCE_NANOS) {
                    admin.err()
                            .println("tidegate: process " + before
                                    + (nobody
                                            ? " and the next one, " + next
                                                    + ", have both ended; the log has their words"
                                            : " answers no more, and process " + next + " does not answer here yet;"
                                                    + " it does elsewhere if admin.listen has changed"));
                    throw e;
                }
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    private static boolean runs(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
    }

    private int failed(Json state) {
        if (admin.json()) {
            admin.out().println(state.pretty());
        }
        admin.err()
                .println("tidegate: the upgrade failed, process " + state.number("pid") + " goes on: "
                        + state.text("detail"));
        return Exit.FAILED;
    }
}
