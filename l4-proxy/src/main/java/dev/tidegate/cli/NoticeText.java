package dev.tidegate.cli;

import dev.tidegate.control.StopTimes;
import java.util.concurrent.TimeUnit;

/** What {@code systemctl status} shows of the process: one line. */
final class NoticeText {
    static final String STARTING = "starting";
    static final String CHECKING = "listening, the first checks of endpoints are under way";

    private NoticeText() {}

    /**
     * Of a process that serves.
     *
     * @param rejected whether the last reload changed nothing, since something is wrong with the file
     */
    static String serving(Vitals vitals, boolean rejected) {
        return "serving " + counted(vitals.listeners(), "listener") + ", " + vitals.endpointsUp() + " of "
                + counted(vitals.endpoints(), "endpoint") + " up"
                + (rejected ? "; the last reload was rejected, see the log" : "");
    }

    /** Of one that reads its configuration again. */
    static String reloading(Vitals vitals) {
        return "reloading; " + serving(vitals, false);
    }

    /** Of one on its way out. */
    static String stopping(int connections, StopTimes times, long nowNanos) {
        long listensNanos = times.listensUntilNanos() - nowNanos;
        long leftNanos = times.deadlineNanos() - nowNanos;
        if (listensNanos > 0) {
            return "lame duck: accepts for " + seconds(listensNanos) + " more, " + counted(connections, "connection");
        }
        return leftNanos > 0
                ? "draining " + counted(connections, "connection") + ", " + seconds(leftNanos) + " left"
                : "ending " + counted(connections, "connection") + " now";
    }

    /** What is added while another process ends its connections. */
    static String waitingFor(long pid) {
        return "; process " + pid + ", which it has taken over from, still drains";
    }

    private static String counted(int count, String thing) {
        return count + " " + thing + (count == 1 ? "" : "s");
    }

    private static String seconds(long nanos) {
        return TimeUnit.NANOSECONDS.toSeconds(nanos + TimeUnit.SECONDS.toNanos(1) - 1) + " s";
    }
}
